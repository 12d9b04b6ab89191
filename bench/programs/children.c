// SPDX-License-Identifier: Apache-2.0
// children SECONDS PER_SECOND MICROSECONDS [PROGRAM…]: starts so many children a second that are busy for so long and end. Without
// programs they are forks that go on in forked(); else they take turns in calling exec of these, with MICROSECONDS as argument.
// Compiled with -DTWIN=NAME: such a program, busy in NAME_work() below NAME_main().
// Prints the CPU time of itself and all children at the end, ns, how many there were, and its pid.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static long ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static inline __attribute__((always_inline)) void busy_until(long end)
{
	while (ns(CLOCK_PROCESS_CPUTIME_ID) < end)
		for (int i = 0; i < 10000; i++)
			sink += i;
}

#ifdef TWIN
#define JOIN(a, b)  a##b
#define NAMED(a, b) JOIN(a, b)
__attribute__((noinline)) void NAMED(TWIN, _work)(long end)
{
	busy_until(end);
	sink++;
}

__attribute__((noinline)) void NAMED(TWIN, _main)(long end)
{
	NAMED(TWIN, _work)(end);
	sink++;
}

int main(int argc, char **argv)
{
	NAMED(TWIN, _main)(argc > 1 ? atol(argv[1]) * 1000 : 0);
	return 0;
}
#else
__attribute__((noinline)) void forked(long end)
{
	busy_until(end);
	sink++;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: children SECONDS PER_SECOND MICROSECONDS [PROGRAM…]\n");
		return 2;
	}
	long count = atol(argv[1]) * atol(argv[2]), period = 1000000000 / atol(argv[2]);
	long start = ns(CLOCK_MONOTONIC);
	for (long k = 0; k < count; k++) {
		long at = start + k * period;
		struct timespec t = { at / 1000000000, at % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		pid_t child = fork();
		if (child == 0) {
			if (argc > 4) {
				char *program = argv[4 + k % (argc - 4)];
				char *args[] = { program, argv[3], NULL };
				execv(program, args);
				_exit(127);
			}
			forked(atol(argv[3]) * 1000);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	struct rusage all;
	getrusage(RUSAGE_CHILDREN, &all);
	printf("%ld %ld %d\n",
	       (all.ru_utime.tv_sec + all.ru_stime.tv_sec) * 1000000000L +
		       (all.ru_utime.tv_usec + all.ru_stime.tv_usec) * 1000L +
		       ns(CLOCK_PROCESS_CPUTIME_ID),
	       count, getpid());
	return 0;
}
#endif
