// SPDX-License-Identifier: Apache-2.0
// newstacks PROCESSES_PER_SECOND: stacks and processes that nobody has seen before, without an end. Eight threads walk a path of twenty
// calls, chosen by chance among four functions each time, and sleep at the end of the path; a ninth starts processes that do so once.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	DEPTH = 20,
	THREADS = 8
};

static volatile unsigned sink;

static void pause_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	nanosleep(&t, NULL);
}

static void walk(unsigned long path, int depth);

#define STEP(name)                                                                \
	static __attribute__((noinline)) void name(unsigned long path, int depth) \
	{                                                                         \
		walk(path, depth);                                                \
		sink++;                                                           \
	}
STEP(north)
STEP(east)
STEP(south)
STEP(west)

static __attribute__((noinline)) void walk(unsigned long path, int depth)
{
	static void (*const way[])(unsigned long, int) = { north, east, south, west };

	if (depth == 0) {
		for (int i = 0; i < 200000; i++)
			sink += i;
		pause_ms(20);
		return;
	}
	way[path & 3](path >> 2, depth - 1);
	sink++;
}

static unsigned long chance(unsigned long *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *wanders(void *number)
{
	unsigned long state = 88172645463325252UL + (unsigned long)number;

	for (;;)
		walk(chance(&state), DEPTH);
	return NULL;
}

int main(int argc, char **argv)
{
	long rate = argc > 1 ? strtol(argv[1], NULL, 10) : 50;
	unsigned long state = 2463534242UL;

	if (rate < 1 || rate > 1000) {
		fprintf(stderr, "usage: newstacks PROCESSES_PER_SECOND (1 to 1000)\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, 15);
	for (long i = 0; i < THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, wanders, (void *)(i * 1000003)) != 0)
			return 1;
	}
	for (unsigned long number = 0;; number++) {
		unsigned long path = chance(&state);
		pid_t child = fork();

		if (child == 0) {
			char name[16];

			snprintf(name, sizeof(name), "wanderer-%lu", number % 100000);
			prctl(PR_SET_NAME, name);
			walk(path, DEPTH);
			_exit(0);
		}
		pause_ms(1000 / rate);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}
