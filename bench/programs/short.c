// SPDX-License-Identifier: Apache-2.0
// short spawn COUNT PROGRAM [ARGUMENT…] [-- PROGRAM…]: starts COUNT processes one after the other, of these programs in turn, and prints
// "PID MICROSECONDS" of each as wait4 says, and "own MICROSECONDS" of itself.
// short server SECONDS PER_SECOND: a server that starts a thread for each connection, which is busy for 1 to 3 ms, and its client, a
// process of its own.
// short parts START_US WORK_US FILE: is busy in start() and then in work(), and appends its times in both by its own clock to FILE, ns.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long sink;

static long ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void sleep_until(long at)
{
	struct timespec t = { at / 1000000000, at % 1000000000 };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static inline __attribute__((always_inline)) void busy(long nanos)
{
	long end = ns(CLOCK_THREAD_CPUTIME_ID) + nanos;
	unsigned long sum = 0;
	while (ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 10000; i++) {
			sum = sum * 6364136223846793005ul + (unsigned long)i;
			__asm__ volatile("" : "+r"(sum));
		}
	__atomic_fetch_add(&sink, sum, __ATOMIC_RELAXED);
}

static long cpu_us(const struct rusage *usage)
{
	return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000L +
	       usage->ru_utime.tv_usec + usage->ru_stime.tv_usec;
}

static int spawn(long count, char **words)
{
	// Where each program begins in the words; its arguments end at a NULL.
	int programs = 0, begins[16] = { 0 };
	for (int i = 0; words[i] && programs < 15; i++)
		if (!strcmp(words[i], "--")) {
			words[i] = NULL;
			begins[++programs] = i + 1;
		}
	programs++;
	for (long k = 0; k < count; k++) {
		char **args = words + begins[k % programs];
		pid_t child = fork();
		if (child == 0) {
			int null = open("/dev/null", O_RDWR | O_CLOEXEC);
			if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
				_exit(126);
			execvp(args[0], args);
			_exit(127);
		}
		struct rusage usage;
		if (child < 0 || wait4(child, NULL, 0, &usage) < 0)
			return 1;
		printf("%d %ld\n", child, cpu_us(&usage));
	}
	printf("own %ld\n", ns(CLOCK_PROCESS_CPUTIME_ID) / 1000);
	return 0;
}

__attribute__((noinline)) void parse(long nanos)
{
	busy(nanos);
	__asm__ volatile("# parse" : : : "memory");
}

__attribute__((noinline)) void answer(long nanos)
{
	busy(nanos);
	__asm__ volatile("# answer" : : : "memory");
}

// A request is how long to be busy, in ns: a fourth of it in parse(), the rest in answer().
static void *serve(void *arg)
{
	int connection = (int)(long)arg;
	long nanos;
	if (read(connection, &nanos, sizeof nanos) == sizeof nanos) {
		parse(nanos / 4);
		answer(nanos - nanos / 4);
		if (write(connection, "k", 1) != 1)
			perror("short: answer");
	}
	close(connection);
	return NULL;
}

static int client(struct sockaddr_in address, long seconds, long rate)
{
	unsigned long random = 1;
	long start = ns(CLOCK_MONOTONIC);
	for (long k = 0; k < seconds * rate; k++) {
		random = random * 6364136223846793005ul + 1442695040888963407ul;
		long nanos = 1000000 + (long)((random >> 33) % 2000000);
		sleep_until(start + k * (1000000000 / rate));
		char byte;
		int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connection < 0 ||
		    connect(connection, (struct sockaddr *)&address, sizeof address) ||
		    write(connection, &nanos, sizeof nanos) != sizeof nanos ||
		    read(connection, &byte, 1) != 1)
			return 1;
		close(connection);
	}
	return 0;
}

static int server(long seconds, long rate)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof address;
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening < 0 || bind(listening, (struct sockaddr *)&address, size) ||
	    listen(listening, 64) || getsockname(listening, (struct sockaddr *)&address, &size)) {
		perror("short: listen");
		return 1;
	}
	pid_t child = fork();
	if (child == 0)
		_exit(client(address, seconds, rate));
	pthread_attr_t detached;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	for (long k = 0; k < seconds * rate; k++) {
		pthread_t thread;
		int connection = accept(listening, NULL, NULL);
		if (connection < 0 ||
		    pthread_create(&thread, &detached, serve, (void *)(long)connection)) {
			perror("short: connection");
			return 1;
		}
	}
	int failed = 0;
	if (waitpid(child, &failed, 0) < 0 || failed)
		return 1;
	// The last thread writes its answer before it ends.
	usleep(100000);
	return 0;
}

__attribute__((noinline)) void start(long nanos)
{
	busy(nanos);
	__asm__ volatile("# start" : : : "memory");
}

__attribute__((noinline)) void work(long nanos)
{
	busy(nanos);
	__asm__ volatile("# work" : : : "memory");
}

static int parts_of(long first, long second, const char *file)
{
	long t0 = ns(CLOCK_THREAD_CPUTIME_ID);
	start(first * 1000);
	long t1 = ns(CLOCK_THREAD_CPUTIME_ID);
	work(second * 1000);
	long t2 = ns(CLOCK_THREAD_CPUTIME_ID);
	char line[64];
	int length = snprintf(line, sizeof line, "%ld %ld\n", t1 - t0, t2 - t1);
	int out = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	return out < 0 || write(out, line, (size_t)length) != length;
}

int main(int argc, char **argv)
{
	if (argc >= 4 && !strcmp(argv[1], "spawn"))
		return spawn(atol(argv[2]), argv + 3);
	if (argc == 4 && !strcmp(argv[1], "server"))
		return server(atol(argv[2]), atol(argv[3]));
	if (argc == 5 && !strcmp(argv[1], "parts"))
		return parts_of(atol(argv[2]), atol(argv[3]), argv[4]);
	fprintf(stderr, "usage: short spawn COUNT PROGRAM… | server SECONDS PER_SECOND | "
			"parts START_US WORK_US FILE\n");
	return 2;
}
