// SPDX-License-Identifier: Apache-2.0
// worker PERCENT: handles jobs for so much of its time.
#include "incident.h"

APART void handle_job(double ms)
{
	burn_ms(ms);
	STAYS();
}

int main(int argc, char **argv)
{
	double busy = argc > 1 ? atof(argv[1]) : 100;

	alarm(LIFE);
	for (;;) {
		handle_job(busy / 2);
		if (busy < 100)
			sleep_ms(50 - busy / 2);
	}
}
