// SPDX-License-Identifier: Apache-2.0
// innocent SECONDS: a thread that is busy below innocent_1 … innocent_8, and one that is asleep below them.
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static volatile unsigned long sink;
static int seconds;

KEEP static int innocent_8(int sleeps)
{
	struct timespec t = { .tv_sec = 1000 };

	if (sleeps)
		return clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	for (int i = 0; i < 100000; i++)
		sink += i;
	return (int)sink;
}

#define CALLS(from, to)                           \
	KEEP static int from(int sleeps)          \
	{                                         \
		return (int)(sink += to(sleeps)); \
	}

CALLS(innocent_7, innocent_8)
CALLS(innocent_6, innocent_7)
CALLS(innocent_5, innocent_6)
CALLS(innocent_4, innocent_5)
CALLS(innocent_3, innocent_4)
CALLS(innocent_2, innocent_3)
CALLS(innocent_1, innocent_2)

static void *asleep(void *none)
{
	innocent_1(1);
	return none;
}

int main(int argc, char **argv)
{
	pthread_t t;

	seconds = argc > 1 ? atoi(argv[1]) : 10;
	alarm((unsigned int)seconds);
	pthread_create(&t, NULL, asleep, NULL);
	for (;;) {
		// Half of the time, so that it leaves others a CPU.
		struct timespec rest = { .tv_nsec = 1000000 };
		for (int i = 0; i < 10; i++)
			innocent_1(0);
		nanosleep(&rest, NULL);
	}
}
