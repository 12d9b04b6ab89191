// SPDX-License-Identifier: Apache-2.0
// switching PAIRS TRIPS SECONDS: pairs of threads that pass a byte forth and back, TRIPS times a second each.
// Prints "ready", then after SECONDS how many round trips were made and the CPU time that this took.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long trips_per_second;
static long made;

struct pair {
	int there[2], back[2];
};

static void *answer(void *arg)
{
	struct pair *pair = arg;
	char byte;

	while (read(pair->there[0], &byte, 1) == 1 && write(pair->back[1], &byte, 1) == 1)
		;
	return NULL;
}

static void *ask(void *arg)
{
	struct pair *pair = arg;
	struct timespec next;
	char byte = 0;

	clock_gettime(CLOCK_MONOTONIC, &next);
	next.tv_nsec = rand() % 1000000000;
	for (;;) {
		next.tv_nsec += 1000000000 / trips_per_second;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		if (write(pair->there[1], &byte, 1) != 1 || read(pair->back[0], &byte, 1) != 1)
			return NULL;
		__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
	}
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	struct timespec cpu;
	pthread_t t;

	if (argc != 4) {
		fprintf(stderr, "usage: switching PAIRS TRIPS SECONDS\n");
		return 2;
	}
	trips_per_second = atol(argv[2]);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (int i = 0; i < atoi(argv[1]); i++) {
		struct pair *pair = malloc(sizeof(*pair));

		if (!pair || pipe(pair->there) || pipe(pair->back) ||
		    pthread_create(&t, &attr, answer, pair) ||
		    pthread_create(&t, &attr, ask, pair)) {
			perror("switching");
			return 1;
		}
	}
	printf("ready\n");
	fflush(stdout);
	sleep(atoi(argv[3]));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("trips %ld\ncpu_seconds %ld.%09ld\n", __atomic_load_n(&made, __ATOMIC_RELAXED),
	       (long)cpu.tv_sec, cpu.tv_nsec);
	return 0;
}
