// SPDX-License-Identifier: Apache-2.0
// logger: every five seconds it is busy for 300 ms.
#include "incident.h"

APART void compress_log(void)
{
	burn_ms(300);
	STAYS();
}

APART void rotate_log(void)
{
	compress_log();
	STAYS();
}

int main(void)
{
	alarm(LIFE);
	for (;;) {
		rotate_log();
		sleep_ms(4700);
	}
}
