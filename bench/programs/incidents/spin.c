// SPDX-License-Identifier: Apache-2.0
// spin: burns CPU.
#include "incident.h"

APART void spin_forever(void)
{
	for (;;)
		sink++;
}

int main(void)
{
	alarm(LIFE);
	spin_forever();
}
