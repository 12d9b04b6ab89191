/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for each other: the first argument says how, the second how often. Prints `ready`, begins when told, prints what the
 * waiters waited by the kernel's sums as `name tid ns`, then `done`, and ends with its stdin.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static long times;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* ns off the CPU and off the run queue since some moment, by the scheduler's sums of this thread */
static int64_t off(void)
{
	unsigned long long run, queued;
	char line[128] = "";
	FILE *sums;
	uint64_t wall, cpu;

	sums = fopen("/proc/thread-self/schedstat", "r");
	wall = now(CLOCK_MONOTONIC);
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	if (!sums || !fgets(line, sizeof(line), sums) ||
	    sscanf(line, "%llu %llu", &run, &queued) != 2)
		exit(3);
	fclose(sums);
	return wall - cpu - queued;
}

static pthread_mutex_t saying = PTHREAD_MUTEX_INITIALIZER;

static void say(const char *name, int64_t ns)
{
	pthread_mutex_lock(&saying);
	printf("%s %ld %lld\n", name, syscall(SYS_gettid), (long long)ns);
	pthread_mutex_unlock(&saying);
}

static void name_self(const char *name)
{
	prctl(PR_SET_NAME, name);
}

static void pause_for(long ns)
{
	struct timespec t = { .tv_nsec = ns };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

/* The other one's turn, and then mine. */
static int to_ping[2], to_pong[2];

NOINLINE void take_turn(int from)
{
	char byte;

	if (read(from, &byte, 1) != 1)
		exit(4);
}

NOINLINE void give_turn(int to)
{
	if (write(to, "x", 1) != 1)
		exit(5);
}

static void *ping(void *unused)
{
	int64_t before;

	(void)unused;
	name_self("ping");
	before = off();
	for (long i = 0; i < times; i++) {
		give_turn(to_pong[1]);
		take_turn(to_ping[0]);
	}
	say("ping", off() - before);
	return NULL;
}

static void *pong(void *unused)
{
	int64_t before;

	(void)unused;
	name_self("pong");
	before = off();
	for (long i = 0; i < times; i++) {
		take_turn(to_pong[0]);
		pause_for(200000);
		give_turn(to_ping[1]);
	}
	say("pong", off() - before);
	return NULL;
}

/* `first` sleeps by the clock and wakes `second`, which wakes `third`. */
static int links[2][2];

static void *first(void *unused)
{
	(void)unused;
	name_self("first");
	for (long i = 0; i < times; i++) {
		pause_for(1000000);
		give_turn(links[0][1]);
	}
	return NULL;
}

static void *second(void *unused)
{
	(void)unused;
	name_self("second");
	for (long i = 0; i < times; i++) {
		take_turn(links[0][0]);
		give_turn(links[1][1]);
	}
	return NULL;
}

static void *third(void *unused)
{
	int64_t before;

	(void)unused;
	name_self("third");
	before = off();
	for (long i = 0; i < times; i++)
		take_turn(links[1][0]);
	say("third", off() - before);
	return NULL;
}

/* Sleeps by the clock alone. */
static void *sleeper(void *unused)
{
	int64_t before;

	(void)unused;
	name_self("sleeper");
	before = off();
	for (long i = 0; i < times; i++)
		pause_for(1000000);
	say("sleeper", off() - before);
	return NULL;
}

/* Runs all the time, and never waits. */
static void *busy(void *unused)
{
	int64_t before, end = now(CLOCK_MONOTONIC) + times * 1000000;
	volatile uint64_t sum = 0;

	(void)unused;
	name_self("busy");
	before = off();
	while (now(CLOCK_MONOTONIC) < end)
		sum++;
	say("busy", off() - before);
	return NULL;
}

/* Is woken by a signal. */
static atomic_long handled;

static void *signalled(void *unused)
{
	sigset_t waited;
	int64_t before;

	(void)unused;
	name_self("signalled");
	sigemptyset(&waited);
	sigaddset(&waited, SIGUSR1);
	before = off();
	for (long i = 0; i < times; i++) {
		int number;

		atomic_store(&handled, i + 1);
		if (sigwait(&waited, &number))
			exit(6);
	}
	say("signalled", off() - before);
	return NULL;
}

/* A condition that all wait for, and the mutex that each then has to get. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static long round_number;

static void *waits(void *name)
{
	name_self(name);
	pthread_mutex_lock(&mutex);
	for (long i = 0; i < times; i++)
		while (round_number <= i)
			pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *broadcasts(void *unused)
{
	(void)unused;
	name_self("caller");
	for (long i = 0; i < times; i++) {
		pause_for(1000000);
		pthread_mutex_lock(&mutex);
		round_number++;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* Over the loopback device. */
static int listening, port;

static void *serves(void *unused)
{
	int peer = accept(listening, NULL, NULL);

	(void)unused;
	name_self("server");
	for (long i = 0; i < times; i++) {
		take_turn(peer);
		pause_for(200000);
		give_turn(peer);
	}
	close(peer);
	return NULL;
}

static void *asks(void *unused)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = port };
	int peer = socket(AF_INET, SOCK_STREAM, 0);

	(void)unused;
	name_self("client");
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(peer, (struct sockaddr *)&to, sizeof(to)))
		exit(7);
	for (long i = 0; i < times; i++) {
		give_turn(peer);
		take_turn(peer);
	}
	close(peer);
	return NULL;
}

/* Waits for children that end: a plain one, and one that has its parent's memory until it ends. */
static void *parent(void *unused)
{
	int64_t before;

	(void)unused;
	name_self("parent");
	before = off();
	for (long i = 0; i < times; i++) {
		pid_t child = fork();

		if (!child) {
			name_self("child");
			pause_for(1000000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	say("parent", off() - before);
	return NULL;
}

/* Lends its memory to a child, and waits until the child ends. */
static void *lender(void *unused)
{
	int64_t before;

	(void)unused;
	name_self("lender");
	before = off();
	for (long i = 0; i < times; i++) {
		pid_t child = vfork();

		if (!child) {
			name_self("borrower");
			pause_for(1000000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	say("lender", off() - before);
	return NULL;
}

/* Gives one turn, and ends at once. */
static void *mortal(void *unused)
{
	(void)unused;
	name_self("mortal");
	pause_for(1000000);
	give_turn(to_ping[1]);
	return NULL;
}

static void *survivor(void *unused)
{
	(void)unused;
	name_self("survivor");
	for (long i = 0; i < times; i++) {
		pthread_t id;

		pthread_create(&id, NULL, mortal, NULL);
		pthread_detach(id);
		take_turn(to_ping[0]);
	}
	return NULL;
}

/* Reads by a ring of the kernel, to which another thread gives turns. */
static struct io_uring_params ring_params;
static int ring_fd;

NOINLINE void await_ring(struct io_uring_sqe *entry, unsigned *head, unsigned *tail,
			 unsigned *sequence)
{
	static char byte;

	memset(entry, 0, sizeof(*entry));
	entry->opcode = IORING_OP_READ;
	entry->fd = to_ping[0];
	entry->addr = (uint64_t)&byte;
	entry->len = 1;
	sequence[*tail & (ring_params.sq_entries - 1)] = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring_fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		exit(8);
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
}

static void *ringed(void *unused)
{
	size_t size = ring_params.sq_off.array + ring_params.sq_entries * sizeof(unsigned);
	size_t answers = ring_params.cq_off.cqes +
			 ring_params.cq_entries * sizeof(struct io_uring_cqe);
	char *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_fd,
			  IORING_OFF_SQ_RING);
	char *told = mmap(NULL, answers, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_fd,
			  IORING_OFF_CQ_RING);
	void *entry = mmap(NULL, ring_params.sq_entries * sizeof(struct io_uring_sqe),
			   PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring_fd,
			   IORING_OFF_SQES);

	(void)unused;
	if (ring == MAP_FAILED || told == MAP_FAILED || entry == MAP_FAILED)
		exit(9);
	name_self("ringed");
	for (long i = 0; i < times; i++)
		await_ring(entry, (unsigned *)(told + ring_params.cq_off.head),
			   (unsigned *)(ring + ring_params.sq_off.tail),
			   (unsigned *)(ring + ring_params.sq_off.array));
	return NULL;
}

static void *feeder(void *unused)
{
	(void)unused;
	name_self("feeder");
	for (long i = 0; i < times; i++) {
		pause_for(1000000);
		give_turn(to_ping[1]);
	}
	return NULL;
}

/* Wakes and is woken as fast as can be. */
static atomic_int storm_word;

static void *storms(void *number)
{
	long self = (long)number;

	name_self(self ? "storm1" : "storm0");
	for (long i = 0; i < times; i++) {
		while (atomic_load(&storm_word) != self)
			syscall(SYS_futex, &storm_word, FUTEX_WAIT_PRIVATE, 1 - self, NULL, NULL,
				0);
		atomic_store(&storm_word, 1 - self);
		syscall(SYS_futex, &storm_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	void *(*threads[4])(void *) = { NULL };
	void *arguments[4] = { NULL };
	pthread_t ids[4];
	int64_t before;
	int count = 0;
	char byte;

	if (argc < 3)
		return 2;
	times = atol(argv[2]);
	for (int i = 0; i < 2; i++)
		if (pipe(links[i]))
			return 2;
	if (pipe(to_ping) || pipe(to_pong))
		return 2;
	if (!strcmp(argv[1], "pingpong")) {
		threads[count++] = ping;
		threads[count++] = pong;
	} else if (!strcmp(argv[1], "chain")) {
		threads[count++] = third;
		threads[count++] = second;
		threads[count++] = first;
	} else if (!strcmp(argv[1], "sleep")) {
		threads[count++] = sleeper;
	} else if (!strcmp(argv[1], "busy")) {
		threads[count++] = busy;
		threads[count++] = busy;
		threads[count++] = busy;
	} else if (!strcmp(argv[1], "signal")) {
		sigset_t blocked;

		sigemptyset(&blocked);
		sigaddset(&blocked, SIGUSR1);
		pthread_sigmask(SIG_BLOCK, &blocked, NULL);
		threads[count++] = signalled;
	} else if (!strcmp(argv[1], "broadcast")) {
		threads[count] = waits;
		arguments[count++] = "one";
		threads[count] = waits;
		arguments[count++] = "other";
		threads[count++] = broadcasts;
	} else if (!strcmp(argv[1], "loopback")) {
		struct sockaddr_in at = { .sin_family = AF_INET };
		socklen_t size = sizeof(at);

		at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		listening = socket(AF_INET, SOCK_STREAM, 0);
		if (bind(listening, (struct sockaddr *)&at, sizeof(at)) || listen(listening, 1) ||
		    getsockname(listening, (struct sockaddr *)&at, &size))
			return 2;
		port = at.sin_port;
		threads[count++] = serves;
		threads[count++] = asks;
	} else if (!strcmp(argv[1], "child")) {
		threads[count++] = parent;
	} else if (!strcmp(argv[1], "vfork")) {
		threads[count++] = lender;
	} else if (!strcmp(argv[1], "mortal")) {
		threads[count++] = survivor;
	} else if (!strcmp(argv[1], "ring")) {
		ring_fd = syscall(SYS_io_uring_setup, 8, &ring_params);
		if (ring_fd < 0) {
			printf("refused: %s\n", strerror(errno));
			return 0;
		}
		threads[count++] = ringed;
		threads[count++] = feeder;
	} else if (!strcmp(argv[1], "storm")) {
		threads[count++] = storms;
		threads[count] = storms;
		arguments[count++] = (void *)1;
	} else {
		return 2;
	}
	puts("ready");
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		return 0;
	before = off();
	for (int i = 0; i < count; i++)
		pthread_create(&ids[i], NULL, threads[i], arguments[i]);
	if (!strcmp(argv[1], "signal")) {
		name_self("sender");
		for (long i = 0; i < times; i++) {
			while (atomic_load(&handled) <= i)
				sched_yield();
			pause_for(1000000);
			pthread_kill(ids[0], SIGUSR1);
		}
	}
	for (int i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
	say("main", off() - before);
	puts("done");
	fflush(stdout);
	/* those who woke it have ended, and so does the whole program */
	if (!strcmp(argv[1], "mortal"))
		return 0;
	while (read(0, &byte, 1) == 1)
		;
	return 0;
}
