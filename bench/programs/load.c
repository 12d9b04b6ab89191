// SPDX-License-Identifier: Apache-2.0
// load KIND COUNTERS …: one of the loads of bench/run, until killed. Prints "ready" once it is one.
//
//   split COUNTERS THREADS          busy threads, 70 % in seventy() and 30 % in thirty(); work: units of both
//   switching COUNTERS PAIRS TRIPS  pairs of threads that pass a byte to and fro, TRIPS times a second; work: trips
//   children COUNTERS RATE MILLIS   RATE processes a second that live MILLIS, and run for a quarter of it; work: processes
//   hog COUNTERS GIB SLEEPERS       a thread that calls mprotect on GIB of memory, and sleeping ones; work: calls
//
// COUNTERS is a file of two 64-bit numbers: the work done, and the nanoseconds that children lived.
// Meant to be compiled without frame pointers.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

struct counters {
	atomic_ulong work, lived;
};

static struct counters *counters;
static _Thread_local volatile unsigned long sink;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void sleep_until(long at)
{
	struct timespec t = { at / 1000000000, at % 1000000000 };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

static void thread(void *(*root)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t t;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	int err = pthread_create(&t, &attr, root, arg);
	if (err) {
		fprintf(stderr, "load: no more threads: %s\n", strerror(err));
		exit(1);
	}
}

static void ready(void)
{
	printf("ready\n");
	fflush(stdout);
}

#define WORK(n)                                 \
	for (unsigned long i = 0; i < (n); i++) \
	sink = sink * 6364136223846793005ul + i

__attribute__((noinline)) void seventy(unsigned long n)
{
	WORK(n);
	sink++;
}

__attribute__((noinline)) void thirty(unsigned long n)
{
	WORK(n);
	sink--;
}

static void *splitting(void *unused)
{
	// About 10 us; not known to the compiler, which would make a copy of each function under another name.
	volatile unsigned long unit = 1000;
	for (unsigned long units = 0;; units++) {
		seventy(unit * 7);
		thirty(unit * 3);
		if (units % 64 == 0)
			atomic_fetch_add_explicit(&counters->work, 64, memory_order_relaxed);
	}
	return unused;
}

static void split(int threads, int unused)
{
	(void)unused;
	for (int i = 1; i < threads; i++)
		thread(splitting, NULL);
	ready();
	splitting(NULL);
}

struct pair {
	int to[2], fro[2];
	long first, period;
};

static void *answering(void *arg)
{
	struct pair *pair = arg;
	char c;
	while (read(pair->to[0], &c, 1) == 1 && write(pair->fro[1], &c, 1) == 1)
		;
	return NULL;
}

static void *asking(void *arg)
{
	struct pair *pair = arg;
	char c = 0;
	for (long at = pair->first;; at += pair->period) {
		sleep_until(at);
		if (write(pair->to[1], &c, 1) != 1 || read(pair->fro[0], &c, 1) != 1)
			die("pipe");
		atomic_fetch_add_explicit(&counters->work, 1, memory_order_relaxed);
	}
	return NULL;
}

static void switching(int pairs, int trips)
{
	long period = 1000000000L / trips, first = ns(CLOCK_MONOTONIC) + period;
	for (int i = 0; i < pairs; i++) {
		struct pair *pair = malloc(sizeof *pair);
		if (!pair || pipe(pair->to) || pipe(pair->fro))
			die("pipe");
		pair->period = period;
		pair->first = first + period * i / pairs;
		thread(answering, pair);
		thread(asking, pair);
	}
	ready();
	for (;;)
		pause();
}

static __attribute__((noinline)) void childhood(long end, long cpu)
{
	while (ns(CLOCK_THREAD_CPUTIME_ID) < cpu)
		WORK(1000);
	sleep_until(end);
}

static void children(int rate, int millis)
{
	long period = 1000000000L / rate, life = millis * 1000000L;
	unsigned long started = 0;
	// The dead would be seen, and lie for a period: the kernel forgets them at once.
	signal(SIGCHLD, SIG_IGN);
	ready();
	for (long at = ns(CLOCK_MONOTONIC);; at += period) {
		sleep_until(at);
		long born = ns(CLOCK_MONOTONIC);
		pid_t pid = fork();
		if (pid < 0)
			die("fork");
		if (pid == 0) {
			childhood(born + life, life / 4);
			atomic_fetch_add_explicit(&counters->work, 1, memory_order_relaxed);
			atomic_fetch_add_explicit(&counters->lived, ns(CLOCK_MONOTONIC) - born,
						  memory_order_relaxed);
			_exit(0);
		}
		// On a machine that is too slow they must not pile up.
		for (started++; started - atomic_load(&counters->work) >= (unsigned long)rate;)
			sleep_until(ns(CLOCK_MONOTONIC) + 1000000);
	}
}

static void *sleeping(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void hog(int gib, int sleepers)
{
	size_t size = (size_t)gib << 30;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	// Small pages, so that a call has many entries to change.
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
	for (int i = 0; i < sleepers; i++)
		thread(sleeping, NULL);
	ready();
	for (int prot = PROT_READ;; prot ^= PROT_WRITE) {
		if (mprotect(memory, size, prot))
			die("mprotect");
		atomic_fetch_add_explicit(&counters->work, 1, memory_order_relaxed);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int, int);
	} kinds[] = {
		{ "split", split },
		{ "switching", switching },
		{ "children", children },
		{ "hog", hog },
	};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; argc >= 4 && i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		int fd = open(argv[2], O_RDWR | O_CREAT, 0600);
		if (fd < 0 || ftruncate(fd, sizeof *counters))
			die(argv[2]);
		counters = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (counters == MAP_FAILED)
			die(argv[2]);
		kinds[i].run(atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 0);
	}
	fprintf(stderr, "usage: load split|switching|children|hog COUNTERS NUMBER [NUMBER]\n");
	return 2;
}
