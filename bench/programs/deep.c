/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deep SECONDS BYTES [sleep]: in the middle of its chain of calls each of four threads has a frame with an array of BYTES. Below that, busy or
 * asleep, it goes down to one of many depths. The array is not touched but at its ends, so that most of its pages are not there.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP    __attribute__((noinline, noclone))
#define THREADS 3

static volatile unsigned long sum;
static unsigned long bytes;
static int asleep;
static double end;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

KEEP static unsigned long below(int depth, unsigned long x)
{
	volatile char room[64];

	room[x % sizeof(room)] = (char)x;
	if (depth > 0) {
		x = below(depth - 1, x * 31 + depth);
	} else if (asleep) {
		struct timespec t = { .tv_sec = 1000 };

		nanosleep(&t, NULL);
	} else {
		for (int i = 0; i < 20000; i++)
			x = x * 31 + i % 7;
	}
	return x + room[x % sizeof(room)];
}

KEEP static unsigned long large(unsigned long x)
{
	volatile char array[bytes];

	array[0] = (char)x;
	array[bytes - 1] = (char)x;
	x = below((int)(x % 40), x);
	return x + array[0] + array[bytes - 1];
}

KEEP static unsigned long middle(unsigned long x)
{
	return large(x) + 1;
}

KEEP static void *thread(void *arg)
{
	unsigned long x = 88172645463325252ul + (unsigned long)arg;

	while (now() < end) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		sum += middle(x);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc < 3) {
		fprintf(stderr, "usage: deep SECONDS BYTES [sleep]\n");
		return 2;
	}
	end = now() + atof(argv[1]);
	bytes = strtoul(argv[2], NULL, 10);
	asleep = argc > 3 && !strcmp(argv[3], "sleep");
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)(i * 7919)))
			return 1;
	thread(NULL);
	return 0;
}
