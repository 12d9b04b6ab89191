// SPDX-License-Identifier: Apache-2.0
// hostile WHAT …: what a user without any rights can do to who looks at the machine. Prints "ready" when all of it is there; ends by
// itself after two minutes.
//
//   stacks FILE N         N threads on stacks of FILE's pages, of which those above the stack pointer were never read
//   faults N              the same on anonymous memory whose faults this process handles itself, and never does
//   code FILE             runs code of FILE
//   arguments FILLER FILE has a page of FILE in the place of its arguments, of which FILLER is several pages
//   fifo FILE FIFO        runs code of FILE, above whose path FIFO is mounted
//   jit                   runs code that it made itself
//   mappings N            N mappings of its own program, which move all the time
//   names N               changes its name N times a second
//   forks N               forks N children a second, each of which ends at once
//   threads N             N threads, of which a thousand a second end and are replaced
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define ROOM (64ul << 10)
// In the midst of ROOM, with pages of the same mapping above.
#define TOP (ROOM / 2)

static volatile unsigned long sink;

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void drop(void)
{
	if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
		fail("setuid");
	// Files of /proc are root's otherwise, as of every process that was root: nothing that a user's own program could have.
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static void rest(long nanos)
{
	struct timespec t = { .tv_sec = nanos / 1000000000, .tv_nsec = nanos % 1000000000 };
	nanosleep(&t, NULL);
}

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// Calls `act` so often a second, evenly.
static _Noreturn void paced(long rate, void (*act)(long))
{
	uint64_t begin = now();

	ready();
	for (long i = 0;; i++) {
		uint64_t due = begin + (uint64_t)i * 1000000000 / (uint64_t)rate;
		uint64_t at = now();

		if (at + 1000000 < due)
			rest((long)(due - at));
		else if (at > due + 1000000000)
			begin += at - due; // what could not be done is not made up for
		act(i);
	}
}

static void *map_file(const char *path, size_t size, int protection)
{
	int fd = open(path, O_RDONLY);
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, size, protection, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		fail(path);
	// A file that is closed later is asked about at the end of this process.
	close(fd);
	madvise(at, size, MADV_RANDOM);
	return at;
}

static void *doze(void *none)
{
	for (;;)
		rest(20000000);
	return none;
}

static void sleep_on(char *memory)
{
	pthread_attr_t attributes;
	pthread_t t;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, memory, TOP) ||
	    pthread_create(&t, &attributes, doze, NULL))
		fail("thread");
}

static _Noreturn void stacks(const char *path, int count)
{
	for (int i = 0; i < count; i++)
		sleep_on(map_file(path, ROOM, PROT_READ | PROT_WRITE));
	rest(100000000);
	ready();
	for (;;)
		pause();
}

// Which only root may have made for faults of the kernel, unless this machine allows it to all.
static int fault_handler(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		fail("userfaultfd");
	return fd;
}

static _Noreturn void faults(int fd, int count)
{
	for (int i = 0; i < count; i++) {
		char *at = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				0);
		struct uffdio_register all = { .range = { (uintptr_t)at, ROOM },
					       .mode = UFFDIO_REGISTER_MODE_MISSING };

		if (at == MAP_FAILED)
			fail("mmap");
		madvise(at, ROOM, MADV_NOHUGEPAGE);
		memset(at, 0, TOP);
		if (ioctl(fd, UFFDIO_REGISTER, &all))
			fail("userfaultfd");
		sleep_on(at);
	}
	rest(100000000);
	ready();
	for (;;)
		pause();
}

static _Noreturn void run_code(void *code)
{
	int (*function)(void) = (int (*)(void))(uintptr_t)code;

	sink += (unsigned long)function();
	ready();
	for (;;) {
		for (int i = 0; i < 20; i++)
			sink += (unsigned long)function();
		rest(5000000);
	}
}

static _Noreturn void made_code(void)
{
	// as silent.c has
	static const char code[] = "\xb8\0\0\x01\0\xff\xc8\x75\xfc\xc3";
	char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	memcpy(at, code, sizeof(code));
	run_code(at);
}

static _Noreturn void arguments(const char *filler, const char *path)
{
	void *page = (void *)(((uintptr_t)filler + PAGE - 1) & ~(PAGE - 1));
	int fd = open(path, O_RDONLY);

	if (mmap(page, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		fail(path);
	close(fd);
	ready();
	for (;;) {
		for (int i = 0; i < 100000; i++)
			sink += (unsigned long)i;
		rest(5000000);
	}
}

static _Noreturn void fifo(const char *path, const char *above)
{
	void *code;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		fail("unshare");
	code = map_file(path, PAGE, PROT_READ | PROT_EXEC);
	if (mount(above, path, NULL, MS_BIND, NULL))
		fail("mount");
	drop();
	run_code(code);
}

static _Noreturn void mappings(int count)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	char **places = calloc((size_t)count, sizeof(*places));
	int made = 0;

	// Each beside one that may not be read, so that none can be joined with the next.
	char *room = mmap(NULL, (size_t)count * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	if (room == MAP_FAILED || !places)
		fail("mmap");
	for (; made < count; made += 2) {
		places[made] = mmap(room + (size_t)made * PAGE, PAGE, PROT_READ | PROT_EXEC,
				    MAP_PRIVATE | MAP_FIXED, fd, 0);
		if (places[made] == MAP_FAILED)
			break;
	}
	ready();
	for (unsigned long i = 0;; i++) {
		char *at = room + (i * 7919 % (unsigned long)(made / 2)) * 2 * PAGE;

		mmap(at, PAGE, i % 2 ? PROT_READ | PROT_EXEC : PROT_NONE,
		     MAP_PRIVATE | MAP_FIXED | (i % 2 ? 0 : MAP_ANONYMOUS), i % 2 ? fd : -1, 0);
		if (i % 50 == 0)
			rest(1000000);
	}
}

static void rename_self(long i)
{
	char name[16];

	snprintf(name, sizeof(name), "name-%ld", i);
	prctl(PR_SET_NAME, name);
}

static void fork_one(long i)
{
	pid_t child = fork();

	if (child == 0)
		_exit((int)i & 1);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static long lifetime;

static void *short_lived(void *none)
{
	rest(lifetime);
	return none;
}

static void make_thread(long i)
{
	pthread_attr_t attributes;
	pthread_t t;

	(void)i;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_create(&t, &attributes, short_lived, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *first = argc > 2 ? argv[2] : "";
	int number = atoi(first);

	alarm(120);
	signal(SIGQUIT, SIG_IGN);
	if (!strcmp(what, "fifo") && argc > 3)
		fifo(first, argv[3]);
	if (!strcmp(what, "faults")) {
		int fd = fault_handler();
		drop();
		faults(fd, number);
	}
	if (!strcmp(what, "code")) {
		// Opened first: an overlay lets nobody else open the files of some filesystems.
		void *code = map_file(first, PAGE, PROT_READ | PROT_EXEC);
		drop();
		run_code(code);
	}
	drop();
	if (!strcmp(what, "stacks") && argc > 3)
		stacks(first, atoi(argv[3]));
	if (!strcmp(what, "arguments") && argc > 3)
		arguments(first, argv[3]);
	if (!strcmp(what, "jit"))
		made_code();
	if (!strcmp(what, "mappings"))
		mappings(number);
	if (!strcmp(what, "names"))
		paced(number, rename_self);
	if (!strcmp(what, "forks"))
		paced(number, fork_one);
	if (!strcmp(what, "threads")) {
		lifetime = number * 1000000l;
		paced(1000, make_thread);
	}
	fprintf(stderr, "usage: hostile WHAT …: see its source\n");
	return 2;
}
