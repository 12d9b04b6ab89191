// SPDX-License-Identifier: Apache-2.0
// callers SECONDS: burns CPU in shared(), of which left() asks for three parts and right() for one. Of each
// part half is spent in inner(), which shared() calls, and half in shared() itself.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

#define WORK(n)                                 \
	for (unsigned long i = 0; i < (n); i++) \
	sink = sink * 6364136223846793005ul + i

__attribute__((noinline)) void inner(unsigned long n)
{
	WORK(n);
	sink++;
}

__attribute__((noinline)) void shared(unsigned long n)
{
	inner(n);
	WORK(n);
	sink--;
}

__attribute__((noinline)) void left(unsigned long n)
{
	shared(3 * n);
	sink++;
}

__attribute__((noinline)) void right(unsigned long n)
{
	shared(n);
	sink--;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: callers SECONDS\n");
		return 2;
	}
	double end = now() + atof(argv[1]);
	while (now() < end) {
		left(20000);
		right(20000);
	}
	return 0;
}
