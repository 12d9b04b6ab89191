// SPDX-License-Identifier: Apache-2.0
// spawner RATE [LIVE_MS [BUSY_MS]]: starts RATE processes a second until killed; each is a program of its own that is busy for
// BUSY_MS (default 2) and then asleep until LIVE_MS (default 20) are over.
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double end)
{
	double left;
	while ((left = end - now()) > 0) {
		struct timespec t = { .tv_sec = (time_t)left,
				      .tv_nsec = (long)((left - (double)(time_t)left) * 1e9) };
		nanosleep(&t, NULL);
	}
}

static __attribute__((noinline)) unsigned long busy(double end)
{
	unsigned long rounds = 0;
	while (now() < end)
		rounds++;
	return rounds;
}

static int live(double live_ms, double busy_ms)
{
	double begin = now();
	unsigned long rounds = busy(begin + busy_ms / 1000);
	sleep_until(begin + live_ms / 1000);
	return rounds == 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "live") == 0)
		return live(atof(argv[2]), atof(argv[3]));
	double rate = argc > 1 ? atof(argv[1]) : 0;
	if (rate <= 0) {
		fprintf(stderr, "usage: spawner RATE [LIVE_MS [BUSY_MS]]\n");
		return 2;
	}
	// Children are reaped by the kernel.
	signal(SIGCHLD, SIG_IGN);
	char *child[] = { argv[0], "live", argc > 2 ? argv[2] : "20", argc > 3 ? argv[3] : "2",
			  NULL };
	for (double due = now();; due += 1 / rate) {
		sleep_until(due);
		pid_t pid;
		int error = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, child, environ);
		if (error && error != EAGAIN) {
			fprintf(stderr, "spawner: posix_spawn: %s\n", strerror(error));
			return 1;
		}
	}
}
