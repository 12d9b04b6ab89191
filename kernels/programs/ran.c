// SPDX-License-Identifier: Apache-2.0
// ran PROGRAM ARGUMENT…: runs it, and prints "ran PID RUN_NS WAIT_NS LEAST MOST" when it has ended: the kernel's own sums
// (/proc/PID/schedstat) of its first thread, read when it will never run again, and ns that it was there at least, and at most.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: ran PROGRAM ARGUMENT…\n");
		return 2;
	}
	long begun = now();
	pid_t child = fork();
	if (child < 0) {
		perror("fork");
		return 1;
	}
	if (!child) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	long after_fork = now();
	siginfo_t end = { 0 };
	// It stays a zombie, which has its sums still.
	if (waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT)) {
		perror("waitid");
		return 1;
	}
	long least = now() - after_fork;
	// What it was told to be dead by is the last that it runs.
	usleep(100000);
	char path[64];
	long run, wait;
	snprintf(path, sizeof path, "/proc/%d/schedstat", child);
	FILE *sums = fopen(path, "r");
	if (!sums || fscanf(sums, "%ld %ld", &run, &wait) != 2) {
		perror(path);
		return 1;
	}
	fclose(sums);
	waitpid(child, NULL, 0);
	printf("ran %d %ld %ld %ld %ld\n", child, run, wait, least, now() - begun);
	return end.si_code == CLD_EXITED ? end.si_status : 1;
}
