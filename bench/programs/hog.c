// SPDX-License-Identifier: Apache-2.0
// hog MIB SLEEPERS: a thread named "hog" that changes the protection of so much memory without end, which holds the
// mmap_lock of the process most of the time, beside as many threads that sleep below a few frames.
// Prints "ready PID TID", TID being the hog's, when all of them are there.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static __attribute__((noinline)) int doze(int depth)
{
	if (depth == 0) {
		pause();
		return 1;
	}
	return doze(depth - 1) + 1;
}

static void *sleeper(void *arg)
{
	return (void *)(long)doze((int)(long)arg);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: hog MIB SLEEPERS\n");
		return 2;
	}
	size_t bytes = (size_t)atol(argv[1]) << 20;
	char *memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	// Small pages that are only read: all are the zero page, so this takes page tables and no more.
	if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE)) {
		perror("hog");
		return 1;
	}
	for (size_t at = 0; at < bytes; at += 4096)
		(void)*(volatile char *)(memory + at);
	for (int i = 0; i < atoi(argv[2]); i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, sleeper, (void *)(long)(i % 8))) {
			perror("hog");
			return 1;
		}
	}
	prctl(PR_SET_NAME, "hog");
	printf("ready %d %d\n", getpid(), gettid());
	fflush(stdout);
	for (;;) {
		mprotect(memory, bytes, PROT_NONE);
		mprotect(memory, bytes, PROT_READ);
	}
}
