// SPDX-License-Identifier: Apache-2.0
// bursts SECONDS RUN_US PERIOD_US PHASE_US: runs so long in each period, sleeps the rest; periods begin at multiples of PERIOD_US of
// CLOCK_MONOTONIC plus PHASE_US. Prints its pid, its time on a CPU by /proc/self/schedstat and its wall clock at the end, ns.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static long ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noinline)) void burst(long run)
{
	long end = ns(CLOCK_THREAD_CPUTIME_ID) + run;
	while (ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 1000; i++)
			sink += i;
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: bursts SECONDS RUN_US PERIOD_US PHASE_US\n");
		return 2;
	}
	long run = atol(argv[2]) * 1000, period = atol(argv[3]) * 1000;
	long start = ns(CLOCK_MONOTONIC), end = start + atol(argv[1]) * 1000000000;
	long at = start / period * period + atol(argv[4]) * 1000;
	while ((at += period) < end) {
		struct timespec t = { at / 1000000000, at % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		burst(run);
	}
	/* both since the process began, so that a slow start is in them */
	long ran = 0, began = 0;
	FILE *sums = fopen("/proc/self/schedstat", "r"), *stat = fopen("/proc/self/stat", "r");
	if (!sums || fscanf(sums, "%ld", &ran) != 1 || !stat ||
	    fscanf(stat,
		   "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		   "%*d %*d %ld",
		   &began) != 1)
		return 1;
	began *= 1000000000 / sysconf(_SC_CLK_TCK);
	printf("%d %ld %ld\n", getpid(), ran, ns(CLOCK_BOOTTIME) - began);
	return 0;
}
