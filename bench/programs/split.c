// SPDX-License-Identifier: Apache-2.0
// split SECONDS [syscalls]: burns CPU in seventy() and thirty(), which do work as 7 to 3. That is not quite time as 7 to 3: the same loop at
// another address is a percent faster or slower. So it measures that, by the cycle counter around each call; calls that something
// interrupted for longer than they last are left out.
// With "syscalls" each millisecond of work also makes two cheap system calls, in call().
// Prints the true shares of seventy, thirty and call at the end or at SIGTERM, in percent. Meant to be compiled without frame pointers.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static volatile unsigned long sink;
static volatile sig_atomic_t told_to_end;

static void on_term(int number)
{
	told_to_end = number;
}

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

static double cycles[3], least;

__attribute__((noinline)) void work(unsigned long unit, int syscalls)
{
	unsigned long t0 = __rdtsc();
	seventy(unit * 7);
	unsigned long t1 = __rdtsc();
	if (syscalls)
		call();
	unsigned long t2 = __rdtsc();
	thirty(unit * 3);
	unsigned long t3 = __rdtsc();
	double each = (double)(t3 - t0) / (double)unit;

	if (!least || each < least)
		least = each;
	if (each < 2 * least) {
		cycles[0] += (double)(t1 - t0);
		cycles[1] += (double)(t3 - t2);
		cycles[2] += (double)(t2 - t1);
	}
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
	signal(SIGTERM, on_term);
	// Of changing length: what takes as long each time may keep step with the clock that samples it.
	unsigned long random = 1;
	while (!told_to_end && now(CLOCK_MONOTONIC) < end) {
		random = random * 6364136223846793005ul + 1442695040888963407ul;
		work(unit / 2 + (random >> 33) % unit, syscalls);
	}
	double all = (cycles[0] + cycles[1] + cycles[2]) / 100;
	printf("%.2f %.2f %.2f\n", cycles[0] / all, cycles[1] / all, cycles[2] / all);
	return 0;
}
