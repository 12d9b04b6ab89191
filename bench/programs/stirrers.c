// SPDX-License-Identifier: Apache-2.0
// stirrers THREADS: as many threads, each of which sleeps 25 ms again and again below a few frames, until killed.
// Prints "ready" when all of them go.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static __attribute__((noinline)) int stir(int depth)
{
	if (depth == 0) {
		usleep(25000);
		return 1;
	}
	return stir(depth - 1) + 1;
}

static void *stirrer(void *arg)
{
	for (;;)
		stir((int)(long)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 100;
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (int i = 0; i < threads; i++) {
		pthread_t t;
		int err = pthread_create(&t, &attr, stirrer, (void *)(long)(i % 8));
		if (err) {
			fprintf(stderr, "stirrers: thread %d: error %d\n", i, err);
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
