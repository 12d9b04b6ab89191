// SPDX-License-Identifier: Apache-2.0
// shares SECONDS THREADS CPU PERIOD_NS OFFSET_NS run|sleep NS NS…: in each period a thread runs in part_00() for the first NS, then in
// part_01() for the second, and so on, and sleeps for the rest; or it sleeps in them. Periods begin at multiples of PERIOD_NS of
// CLOCK_MONOTONIC plus OFFSET_NS, and of further threads evenly later. CPU: pinned to it; -1: not.
// shares SECONDS THREADS CPU PERIOD_NS OFFSET_NS random NS NS: in each period, of half to three halves of PERIOD_NS, one to three runs
// in any of part_00() to part_19(), from the first to the second NS long.
// Ends after SECONDS or at SIGTERM, and prints its CPU time in ns as "cpu NS", then "part_NN NS" for each part: by the thread's own CPU
// clock; of sleeps by the monotonic one, without the time that the thread ran or waited for a CPU in them.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PARTS   20
#define THREADS 64

static volatile sig_atomic_t told_to_end;

static void on_term(int number)
{
	told_to_end = number;
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
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) && !told_to_end)
		;
}

// The work of a part: so many turns of a loop, or a sleep until a moment where there is one.
struct work {
	unsigned long turns, sink;
	long until;
};

static inline __attribute__((always_inline)) void do_work(struct work *work)
{
	if (work->until)
		sleep_until(work->until);
	unsigned long sink = work->sink;
	for (unsigned long i = 0; i < work->turns; i++) {
		sink = sink * 6364136223846793005ul + i;
		__asm__ volatile("" : "+r"(sink));
	}
	work->sink = sink;
}

// Each is code of its own: identical functions may be folded into one.
#define PART(n)                                                                    \
	static __attribute__((noinline, noclone)) void part_##n(struct work *work) \
	{                                                                          \
		do_work(work);                                                     \
		__asm__ volatile("# part " #n : : : "memory");                     \
		work->sink += 1##n;                                                \
	}
PART(00)
PART(01)
PART(02)
PART(03)
PART(04)
PART(05)
PART(06)
PART(07)
PART(08)
PART(09)
PART(10)
PART(11)
PART(12)
PART(13)
PART(14)
PART(15)
PART(16)
PART(17)
PART(18)
PART(19)

static void (*const parts[PARTS])(struct work *) = { part_00, part_01, part_02, part_03, part_04,
						     part_05, part_06, part_07, part_08, part_09,
						     part_10, part_11, part_12, part_13, part_14,
						     part_15, part_16, part_17, part_18, part_19 };

enum kind {
	RUN,
	SLEEP,
	RANDOM
};

static enum kind kind;
static int lengths;
static long seconds, threads, period, offset, length[PARTS];

struct thread {
	pthread_t id;
	long number;
	struct work work;
	double turns_per_ns;
	int sums;
	unsigned long random;
	long truth[PARTS];
};

static struct thread all[THREADS];

static unsigned long below(struct thread *thread, unsigned long bound)
{
	thread->random = thread->random * 6364136223846793005ul + 1442695040888963407ul;
	return (thread->random >> 33) % bound;
}

// How many turns last a nanosecond changes with the machine's frequency and neighbours, so each run says how many the next needs.
static void run(struct thread *thread, int part, long nanos)
{
	thread->work.turns = (unsigned long)((double)nanos * thread->turns_per_ns);
	long before = ns(CLOCK_THREAD_CPUTIME_ID);
	parts[part](&thread->work);
	long took = ns(CLOCK_THREAD_CPUTIME_ID) - before;
	thread->truth[part] += took;
	double now = (double)thread->work.turns / (double)(took > 0 ? took : 1);
	thread->turns_per_ns += (now - thread->turns_per_ns) / 16;
}

// When the thread neither ran nor waited for a CPU so far, ns after some moment.
static long off_cpu(const struct thread *thread)
{
	char text[64] = "";
	long waited = 0;
	if (pread(thread->sums, text, sizeof text - 1, 0) <= 0 ||
	    sscanf(text, "%*d %ld", &waited) != 1) {
		perror("shares: schedstat");
		exit(1);
	}
	return ns(CLOCK_MONOTONIC) - ns(CLOCK_THREAD_CPUTIME_ID) - waited;
}

static void nap(struct thread *thread, int part, long until)
{
	thread->work.turns = 0;
	thread->work.until = until;
	long before = off_cpu(thread);
	parts[part](&thread->work);
	thread->truth[part] += off_cpu(thread) - before;
	thread->work.until = 0;
}

static void *go(void *arg)
{
	struct thread *thread = arg;
	thread->random = (unsigned long)thread->number + 1;
	thread->turns_per_ns = 1;
	thread->sums = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	long start = ns(CLOCK_MONOTONIC), end = start + seconds * 1000000000;
	long at = start / period * period + offset + thread->number * period / threads;
	while (!told_to_end && at < end) {
		sleep_until(at);
		long next = at + period;
		if (kind == RANDOM) {
			for (unsigned long runs = 1 + below(thread, 3); runs > 0; runs--)
				run(thread, (int)below(thread, PARTS),
				    length[0] + (long)below(thread, (unsigned long)(length[1] -
										    length[0])));
			next = at + period / 2 + (long)below(thread, (unsigned long)period);
		}
		for (int i = 0; i < lengths && kind != RANDOM; i++)
			if (kind == RUN) {
				run(thread, i, length[i]);
			} else {
				at += length[i];
				nap(thread, i, at);
			}
		// Who is late leaves periods out rather than to run on without a sleep, and keeps the phase.
		long late = ns(CLOCK_MONOTONIC) - next;
		at = next + (late > 0 ? (late / period + 1) * period : 0);
		if (kind == SLEEP && late > 0 && late < period / 4)
			at = next;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc < 8 || argc > 7 + PARTS) {
		fprintf(stderr, "usage: shares SECONDS THREADS CPU PERIOD_NS OFFSET_NS "
				"run|sleep|random NS NS…\n");
		return 2;
	}
	seconds = atol(argv[1]);
	threads = atol(argv[2]);
	long cpu = atol(argv[3]);
	period = atol(argv[4]);
	offset = atol(argv[5]);
	kind = !strcmp(argv[6], "random") ? RANDOM : !strcmp(argv[6], "sleep") ? SLEEP : RUN;
	lengths = argc - 7;
	for (int i = 0; i < lengths; i++)
		length[i] = atol(argv[7 + i]);
	if (threads < 1 || threads > THREADS || period < 1000 ||
	    (kind == RANDOM && (lengths != 2 || length[1] <= length[0])))
		return 2;
	if (cpu >= 0) {
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET((int)cpu, &set);
		if (sched_setaffinity(0, sizeof set, &set))
			return 1;
	}
	struct sigaction action = { .sa_handler = on_term };
	sigaction(SIGTERM, &action, NULL);
	for (long i = 0; i < threads; i++) {
		all[i].number = i;
		if (i && pthread_create(&all[i].id, NULL, go, &all[i]))
			return 1;
	}
	go(&all[0]);
	for (long i = 1; i < threads; i++)
		pthread_join(all[i].id, NULL);
	printf("cpu %ld\n", ns(CLOCK_PROCESS_CPUTIME_ID));
	int used = kind == RANDOM ? PARTS : lengths;
	for (int part = 0; part < used; part++) {
		long sum = 0;
		for (long i = 0; i < threads; i++)
			sum += all[i].truth[part];
		printf("part_%02d %ld\n", part, sum);
	}
	return 0;
}
