// SPDX-License-Identifier: Apache-2.0
// asleep SECONDS: threads that sleep that long in known places, and says where each of them slept and how long:
//   slept TID STATE NS STAYS KERNEL FRAME;FRAME;…   in this state and below these functions, in so many stays, in a kernel function whose
//                                                    name matches the regular expression KERNEL
//   lived TID LEAST MOST                             the thread: ns that it has lived at least, and at most
//   blocked TID NS SUM DURING                        in D by its own clock; by the kernel's sum_block_runtime in all its life, and of that
//                                                    while its own clock ran; both - if the kernel keeps none
// A thread that called vfork() is asleep in D until its child ends: for a known time, without a disk.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// what one thread alternates, and how often
#define STAYS 3

struct sleeper {
	const char *name;
	void *(*body)(void *);
	pthread_t id;
	pid_t tid;
	long created, lived, asleep[2];
	double blocked[2]; // before the first stay, and behind the last one; below 0: unknown
};

static long end; // of the sleep, by CLOCK_MONOTONIC
static long seconds;
static int never[2];
static sem_t free_at_end;

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

// So that no call is the last thing that a function does: it stays on the stack.
#define STAY __asm__ volatile("" : : : "memory")

// The child of a vfork(): its parent is asleep in D until the child ends. A parent that is killed takes it along.
static __attribute__((noinline, noreturn)) void rest(long until)
{
	struct timespec t = { until / 1000000000, until % 1000000000 };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	_exit(0);
}

static __attribute__((noinline)) void nap_inner(long until)
{
	struct timespec t = { until / 1000000000, until % 1000000000 };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
	STAY;
}

static __attribute__((noinline)) void read_inner(long until)
{
	char byte;
	if (read(never[0], &byte, (size_t)(until > 0)) < 0)
		fail("read");
	STAY;
}

static __attribute__((noinline)) void lock_inner(long until)
{
	while (sem_wait(&free_at_end) && until)
		;
	STAY;
}

static __attribute__((noinline)) void poll_inner(long until)
{
	long left;
	while ((left = until - now()) > 0)
		poll(NULL, 0, (int)(left / 1000000 + 1));
	STAY;
}

static __attribute__((noinline)) void block_inner(long until)
{
	pid_t child = vfork();
	if (!child)
		rest(until);
	if (child < 0 || waitpid(child, NULL, 0) != child)
		fail("vfork");
	STAY;
}

#define MIDDLE(kind)                                                    \
	static __attribute__((noinline)) void kind##_middle(long until) \
	{                                                               \
		kind##_inner(until);                                    \
		STAY;                                                   \
	}
MIDDLE(nap)
MIDDLE(read)
MIDDLE(lock)
MIDDLE(poll)
MIDDLE(block)

static double read_blocked(struct sleeper *self)
{
	char path[64], line[256];
	double blocked = -1;
	snprintf(path, sizeof path, "/proc/self/task/%d/sched", self->tid);
	FILE *sums = fopen(path, "r");
	while (sums && fgets(line, sizeof line, sums)) {
		char *value = strchr(line, ':');
		if (strstr(line, "sum_block_runtime") && value)
			blocked = atof(value + 1) * 1e6;
	}
	if (sums)
		fclose(sums);
	return blocked;
}

#define OUTER(kind)                                                         \
	static __attribute__((noinline)) void *kind##_outer(void *argument) \
	{                                                                   \
		struct sleeper *self = argument;                            \
		long begun = now();                                         \
		self->tid = (pid_t)syscall(SYS_gettid);                     \
		pthread_setname_np(pthread_self(), self->name);             \
		self->blocked[0] = read_blocked(self);                      \
		long before = now();                                        \
		kind##_middle(end);                                         \
		self->asleep[0] = now() - before;                           \
		self->blocked[1] = read_blocked(self);                      \
		self->lived = now() - begun;                                \
		return NULL;                                                \
	}
OUTER(nap)
OUTER(read)
OUTER(lock)
OUTER(poll)
OUTER(block)

static __attribute__((noinline)) void *mix_outer(void *argument)
{
	struct sleeper *self = argument;
	long begun = now(), stay = (end - begun) / (2 * STAYS);
	self->tid = (pid_t)syscall(SYS_gettid);
	pthread_setname_np(pthread_self(), self->name);
	self->blocked[0] = read_blocked(self);
	for (long i = 0; i < STAYS; i++) {
		long before = now();
		block_middle(before + stay);
		long between = now();
		nap_middle(between + stay);
		self->asleep[0] += between - before;
		self->asleep[1] += now() - between;
	}
	self->blocked[1] = read_blocked(self);
	self->lived = now() - begun;
	return NULL;
}

static struct sleeper sleepers[] = {
	{ .name = "nap", .body = nap_outer },     { .name = "read", .body = read_outer },
	{ .name = "lock", .body = lock_outer },   { .name = "poll", .body = poll_outer },
	{ .name = "block", .body = block_outer }, { .name = "mix", .body = mix_outer },
};
enum {
	NAP,
	READ,
	LOCK,
	POLL,
	BLOCK,
	MIX,
	ALL
};

static void tell(int which, int part, const char *state, long stays, const char *kernel,
		 const char *frames)
{
	const struct sleeper *of = &sleepers[which];
	printf("slept %d %s %ld %ld %s %s\n", of->tid, state, of->asleep[part], stays, kernel,
	       frames);
}

int main(int argc, char **argv)
{
	if (argc != 2 || (seconds = atol(argv[1])) < 1) {
		fprintf(stderr, "usage: asleep SECONDS\n");
		return 2;
	}
	if (pipe2(never, O_CLOEXEC) || sem_init(&free_at_end, 0, 0))
		fail("asleep");
	end = now() + seconds * 1000000000;
	for (int i = 0; i < ALL; i++) {
		sleepers[i].created = now();
		if (pthread_create(&sleepers[i].id, NULL, sleepers[i].body, &sleepers[i]))
			fail("pthread_create");
	}
	nap_inner(end);
	sem_post(&free_at_end);
	if (write(never[1], "", 1) != 1)
		fail("write");
	for (int i = 0; i < ALL; i++)
		pthread_join(sleepers[i].id, NULL);
	long over = now();
	tell(NAP, 0, "S", 1, "nanosleep", "nap_outer;nap_middle;nap_inner");
	tell(READ, 0, "S", 1, "pipe_read", "read_outer;read_middle;read_inner");
	tell(LOCK, 0, "S", 1, "futex_wait", "lock_outer;lock_middle;lock_inner");
	tell(POLL, 0, "S", 1, "poll", "poll_outer;poll_middle;poll_inner");
	tell(BLOCK, 0, "D", 1, "(vfork|clone)", "block_outer;block_middle;block_inner");
	tell(MIX, 0, "D", STAYS, "(vfork|clone)", "mix_outer;block_middle;block_inner");
	tell(MIX, 1, "S", STAYS, "nanosleep", "mix_outer;nap_middle;nap_inner");
	for (int i = 0; i < ALL; i++)
		printf("lived %d %ld %ld\n", sleepers[i].tid, sleepers[i].lived,
		       over - sleepers[i].created);
	for (int i = BLOCK; i <= MIX; i++) {
		const double *blocked = sleepers[i].blocked;
		printf("blocked %d %ld ", sleepers[i].tid, sleepers[i].asleep[0]);
		if (blocked[1] < 0)
			printf("- -\n");
		else
			printf("%.0f %.0f\n", blocked[1], blocked[1] - blocked[0]);
	}
	return 0;
}
