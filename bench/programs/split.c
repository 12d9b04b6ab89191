// SPDX-License-Identifier: Apache-2.0
// split SECONDS [syscalls]: burns CPU, 70 % of it in seventy() and 30 % in thirty(), told apart by the thread's own CPU clock.
// With "syscalls" each millisecond of work also makes two cheap system calls, in call().
// Prints the true shares at the end. Meant to be compiled without frame pointers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

#define WORK(n)                                 \
	for (unsigned long i = 0; i < (n); i++) \
	sink = sink * 6364136223846793005ul + i

__attribute__((noinline)) void seventy(unsigned long n)
{
	WORK(n);
	sink++;
}

__attribute__((noinline)) void thirty(unsigned long n)
{
	WORK(n);
	sink--;
}

__attribute__((noinline)) void call(void)
{
	syscall(SYS_getppid);
	syscall(SYS_getuid);
	sink++;
}

__attribute__((noinline)) void work(unsigned long unit, int syscalls)
{
	seventy(unit * 7);
	if (syscalls)
		call();
	thirty(unit * 3);
	sink++;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: split SECONDS [syscalls]\n");
		return 2;
	}
	double seconds = atof(argv[1]);
	int syscalls = argc > 2 && !strcmp(argv[2], "syscalls");
	double t0 = now(CLOCK_THREAD_CPUTIME_ID);
	thirty(20000000);
	double per = (now(CLOCK_THREAD_CPUTIME_ID) - t0) / 20000000;
	unsigned long unit = (unsigned long)(1e-4 / per);
	double end = now(CLOCK_MONOTONIC) + seconds;
	while (now(CLOCK_MONOTONIC) < end)
		work(unit, syscalls);
	printf("seventy 70 thirty 30 unit %lu\n", unit);
	return 0;
}
