// SPDX-License-Identifier: Apache-2.0
// loads KIND: ways to run that are hard to account for. Each process prints "cpu PID NS" before it ends: CPU time of all threads it had.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static char *self;

static long ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* ms of this thread's CPU time */
static void burn(long ms)
{
	long end = ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;
	while (ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 10000; i++)
			sink += i;
}

static void nap(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	while (nanosleep(&t, &t))
		;
}

static void done(void)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "cpu %d %ld\n", getpid(),
			      ns(CLOCK_PROCESS_CPUTIME_ID));
	if (write(1, line, length) != length)
		_exit(1);
}

static void *brief(void *arg)
{
	burn(1);
	return arg;
}

static void *replace(void *arg)
{
	burn(50);
	nap(30);
	execl(self, self, "finish", NULL);
	return arg;
}

static void again(const char *kind, long left)
{
	char number[24];
	snprintf(number, sizeof(number), "%ld", left);
	execl(self, self, kind, number, NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	long left = argc > 2 ? atol(argv[2]) : 0;

	self = argv[0];
	if (!strcmp(kind, "migrate")) {
		cpu_set_t all, one;
		sched_getaffinity(0, sizeof(all), &all);
		for (int i = 0, cpu = 0; i < 150; i++) {
			do
				cpu = (cpu + 1) % CPU_SETSIZE;
			while (!CPU_ISSET(cpu, &all));
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
			burn(3);
			if (i % 4 == 0)
				nap(5);
		}
	} else if (!strcmp(kind, "brief")) {
		for (int i = 0; i < 100; i++) {
			pthread_t t;
			if (pthread_create(&t, NULL, brief, NULL))
				return 1;
			pthread_join(t, NULL);
			nap(3);
		}
	} else if (!strcmp(kind, "execs")) {
		burn(7);
		nap(7);
		if (left > 0)
			again("execs", left - 1);
	} else if (!strcmp(kind, "vfork")) {
		for (volatile int i = 0; i < 30; i++) {
			pid_t child = vfork();
			if (child == 0) {
				execl(self, self, "child", NULL);
				_exit(127);
			}
			waitpid(child, NULL, 0);
		}
	} else if (!strcmp(kind, "child")) {
		burn(4);
	} else if (!strcmp(kind, "fork")) {
		for (int i = 0; i < 100; i++) {
			pid_t child = fork();
			if (child == 0) {
				burn(2);
				done();
				_exit(0);
			}
			waitpid(child, NULL, 0);
		}
	} else if (!strcmp(kind, "thread-exec")) {
		pthread_t t;
		burn(20);
		pthread_create(&t, NULL, replace, NULL);
		pthread_join(t, NULL);
	} else if (!strcmp(kind, "finish")) {
		burn(30);
		nap(30);
	} else if (!strcmp(kind, "stopped")) {
		pid_t child = fork();
		for (int i = 0; child == 0 && i < 5; i++) {
			burn(10);
			raise(SIGSTOP);
		}
		for (int i = 0; child > 0 && i < 5; i++) {
			waitpid(child, NULL, WUNTRACED);
			nap(60);
			kill(child, SIGCONT);
		}
		while (child > 0 && wait(NULL) > 0)
			;
	} else if (!strcmp(kind, "traced")) {
		pid_t child = fork();
		if (child == 0) {
			ptrace(PTRACE_TRACEME, 0, NULL, NULL);
			raise(SIGSTOP);
			burn(20);
		} else {
			int status;
			waitpid(child, &status, 0);
			for (int i = 0; i < 3000 && WIFSTOPPED(status); i++) {
				ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
				waitpid(child, &status, 0);
			}
			nap(100);
			ptrace(PTRACE_DETACH, child, NULL, NULL);
			while (wait(NULL) > 0)
				;
		}
	} else {
		return 2;
	}
	done();
	return 0;
}
