// SPDX-License-Identifier: Apache-2.0
// bursts SECONDS: runs 3 ms of every 100 ms, sleeps the rest. Prints its own CPU time at the end, ns.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static long ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noinline)) void burst(void)
{
	long end = ns(CLOCK_THREAD_CPUTIME_ID) + 3000000;
	while (ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 1000; i++)
			sink += i;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: bursts SECONDS\n");
		return 2;
	}
	long start = ns(CLOCK_MONOTONIC), period = 100000000;
	for (long k = 0; k < atol(argv[1]) * 10; k++) {
		long at = start + k * period;
		struct timespec t = { at / 1000000000, at % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		burst();
	}
	printf("%ld\n", ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
