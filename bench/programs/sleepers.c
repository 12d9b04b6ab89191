// SPDX-License-Identifier: Apache-2.0
// sleepers PROCESSES THREADS: as many threads in each process, asleep below a few frames until killed.
// Prints "ready PID…" when all of them sleep.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/wait.h>
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

static void sleep_with_threads(int threads, int ready)
{
	pthread_attr_t attr;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (int i = 1; i < threads; i++) {
		pthread_t t;
		int err = pthread_create(&t, &attr, sleeper, (void *)(long)(i % 8));
		if (err) {
			fprintf(stderr, "sleepers: thread %d: error %d\n", i, err);
			exit(1);
		}
	}
	if (write(ready, "r", 1) != 1)
		exit(1);
	for (;;)
		doze(4);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: sleepers PROCESSES THREADS\n");
		return 2;
	}
	int processes = atoi(argv[1]), threads = atoi(argv[2]), pipefd[2];
	if (pipe(pipefd))
		return 1;
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();
		if (pid < 0)
			return 1;
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			sleep_with_threads(threads, pipefd[1]);
		}
	}
	for (int i = 0; i < processes; i++) {
		char c;
		if (read(pipefd[0], &c, 1) != 1)
			return 1;
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return 0;
}
