// SPDX-License-Identifier: Apache-2.0
// steps NAME A B [NAME A B]...: threads that sleep A ns in one function and B ns in another in turn, on absolute deadlines and
// before all that is not of real time. Prints "ready", and ends with its input.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void until(long ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

__attribute__((noinline)) static void a(long ns)
{
	until(ns);
	__asm__ volatile("");
}

__attribute__((noinline)) static void b(long ns)
{
	until(ns);
	__asm__ volatile("" ::: "memory");
}

static void *steps(void *arg)
{
	char **words = arg;
	long first = atol(words[1]), second = atol(words[2]);
	struct sched_param rr = { .sched_priority = 1 };
	struct timespec t;

	if (pthread_setname_np(pthread_self(), words[0]) ||
	    pthread_setschedparam(pthread_self(), SCHED_RR, &rr))
		abort();
	clock_gettime(CLOCK_MONOTONIC, &t);
	for (long at = t.tv_sec * 1000000000L + t.tv_nsec;; at += first + second) {
		a(at + first);
		b(at + first + second);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	for (int i = 1; i + 2 < argc; i += 3) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, steps, argv + i))
			abort();
	}
	puts("ready");
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
