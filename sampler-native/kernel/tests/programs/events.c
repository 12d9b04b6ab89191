/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does things that sources of events count: the first argument says what, the others how often. Prints the places of its functions, `name
 * offset-in-the-file address`, then `ready`; begins when told, prints what it did, then `done`, and ends with its stdin.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE     4096
#define NOINLINE __attribute__((noinline, noclone, aligned(64)))

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void place(const char *name, const void *code)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end, offset;
	char line[4096];

	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    (unsigned long)code >= start && (unsigned long)code < end)
			printf("%s %lu %lu\n", name, (unsigned long)code - start + offset,
			       (unsigned long)code);
	}
	fclose(maps);
}

/* Tells that all is ready, and waits to be told to begin; the first touch of these pages is not to be counted. */
static void begin(void)
{
	char byte;

	puts("ready");
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		exit(0);
}

NOINLINE void touch_a(volatile char *memory, long pages)
{
	for (long i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
}

NOINLINE void touch_b(volatile char *memory, long pages)
{
	for (long i = 0; i < pages; i++)
		memory[i * PAGE] = 2;
}

static void faults(long a, long b)
{
	char *memory = mmap(NULL, (a + b) * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	madvise(memory, (a + b) * PAGE, MADV_NOHUGEPAGE);
	place("touch_a", (void *)touch_a);
	place("touch_b", (void *)touch_b);
	begin();
	touch_a(memory, a);
	touch_b(memory + a * PAGE, b);
}

static void writes(long count)
{
	static char bytes[1 << 16];
	int null = open("/dev/null", O_WRONLY);
	long sum = 0;

	begin();
	for (long i = 0; i < count; i++) {
		long n = i % 7 ? i % 100 : 65536;

		sum += write(null, bytes, n);
	}
	printf("sum %ld\n", sum);
}

static uint64_t spent;

NOINLINE void spin(uint64_t ns)
{
	uint64_t until = now() + ns;

	while (now() < until)
		;
}

NOINLINE long nest(long depth)
{
	long below = 0;

	spin(100000);
	if (depth) {
		below = nest(depth - 1);
		/* else the compiler makes a loop of it */
		asm volatile("" : "+r"(below));
	}
	return below + 1;
}

/* a function whose return is probed, in one whose return is probed */
NOINLINE long inner(long n)
{
	spin(200000);
	return n + 1;
}

NOINLINE long outer(long n)
{
	return inner(n) + inner(n + 1);
}

static jmp_buf left;

NOINLINE void leave(long ns)
{
	spin(ns);
	longjmp(left, 1);
}

/* Five calls deep, each of which the jump leaves. */
NOINLINE long deep(long depth)
{
	long below;

	if (depth < 0)
		return 0;
	if (!depth)
		leave(20000);
	below = deep(depth - 1);
	asm volatile("" : "+r"(below));
	return below + 1;
}

NOINLINE long leaves(long jump)
{
	if (jump)
		leave(1000);
	spin(50000);
	return jump + 1;
}

NOINLINE long below(long jump)
{
	volatile char room[512];

	room[jump] = 1;
	return leaves(jump) + room[jump];
}

static void durations(long count)
{
	uint64_t before;
	volatile long sum = 0;

	place("nest", (void *)nest);
	place("inner", (void *)inner);
	place("outer", (void *)outer);
	place("leaves", (void *)leaves);
	place("deep", (void *)deep);
	place("spin", (void *)spin);
	begin();
	before = now();
	for (long i = 0; i < count; i++)
		sum += nest(9);
	spent = now() - before;
	printf("nest %lu\n", spent);
	before = now();
	for (long i = 0; i < count; i++)
		sum += outer(i);
	spent = now() - before;
	printf("outer %lu\n", spent);
	for (long i = 0; i < count; i++) {
		if (!setjmp(left))
			leaves(1);
		sum += below(0);
		/* the next outermost call is as deep in the stack as the one that was left, or less deep */
		if (!setjmp(left))
			deep(4);
	}
}

/* so seldom that no budget keeps a stack back */
static void seldom(long count)
{
	const struct timespec time = { .tv_nsec = 20000000 };
	volatile long sum = 0;

	begin();
	for (long i = 0; i < count; i++) {
		nanosleep(&time, NULL);
		sum += outer(i);
	}
}

/* a call within a call, both of whose returns may be probed, that waits for the end of stdin */
NOINLINE long waits_inside(long n)
{
	char byte;

	while (read(0, &byte, 1) == 1)
		n++;
	return n;
}

NOINLINE long waits_outside(long n)
{
	volatile char room[300];

	room[n] = 1;
	return waits_inside(n) + room[n];
}

static void waits(void)
{
	place("waits_inside", (void *)waits_inside);
	place("waits_outside", (void *)waits_outside);
	begin();
	puts("done");
	fflush(stdout);
	printf("%ld\n", waits_outside(1));
}

/* Sleeps as often, so long each time; the time by the program's own clock. */
static void sleeps(long count, long ns)
{
	struct timespec time = { .tv_nsec = ns };
	uint64_t before;

	begin();
	before = now();
	for (long i = 0; i < count; i++)
		nanosleep(&time, NULL);
	spent = now() - before;
	printf("slept %lu\n", spent);
}

static void rate(long count)
{
	volatile long sum = 0;

	place("quick", (void *)touch_a);
	begin();
	for (long i = 0; i < count; i++)
		touch_a(NULL, 0);
	printf("sum %ld\n", sum);
}

/* a USDT probe as sys/sdt.h makes it; `semaphore` is how often it is watched */
unsigned short semaphore __attribute__((section(".probes"), visibility("hidden")));

#define STRING(x) #x
#define PROBE(name, a, b, c)                                                                  \
	asm volatile("990: nop\n"                                                             \
		     ".pushsection .note.stapsdt,\"\",\"note\"\n"                             \
		     ".balign 4\n"                                                            \
		     ".4byte 992f-991f, 994f-993f, 3\n"                                       \
		     "991: .asciz \"stapsdt\"\n"                                              \
		     "992: .balign 4\n"                                                       \
		     "993: .8byte 990b\n"                                                     \
		     ".8byte _.stapsdt.base\n"                                                \
		     ".8byte semaphore\n"                                                     \
		     ".asciz \"flametop\"\n"                                                  \
		     ".asciz \"" STRING(                                                      \
			     name) "\"\n"                                                     \
				   ".asciz \"-8@%0 -4@%1 8@%2\"\n"                            \
				   "994: .balign 4\n"                                         \
				   ".popsection\n"                                            \
				   ".ifndef _.stapsdt.base\n"                                 \
				   ".pushsection "                                            \
				   ".stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
				   ".weak _.stapsdt.base\n"                                   \
				   ".hidden _.stapsdt.base\n"                                 \
				   "_.stapsdt.base: .space 1\n"                               \
				   ".size _.stapsdt.base, 1\n"                                \
				   ".popsection\n"                                            \
				   ".endif\n" ::"nor"((long)(a)),                             \
		     "nor"((int)(b)), "m"(c))

NOINLINE void first(long n)
{
	volatile long c = 3;

	PROBE(step, n, -7, c);
}

NOINLINE void second(long n)
{
	volatile long c = n;

	PROBE(step, 5, n, c);
}

NOINLINE void third(long n)
{
	volatile long c = n * 2;

	PROBE(step, -n, 1, c);
}

static void usdt(long a, long b, long c)
{
	place("first", (void *)first);
	place("second", (void *)second);
	place("third", (void *)third);
	begin();
	printf("watched %d\n", semaphore);
	for (long i = 0; i < a; i++)
		first(i);
	for (long i = 0; i < b; i++)
		second(i);
	for (long i = 0; i < c; i++)
		third(i);
}

/*
 * A function that calls nobody, with data below its stack pointer and a five-byte nop in it. Returns whether the data was kept.
 */
extern const char leaf_nop[];
NOINLINE long leaf(long n)
{
	long kept;

	asm volatile("movq %1, -8(%%rsp)\n"
		     ".globl leaf_nop\n"
		     "leaf_nop: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
		     "movq -8(%%rsp), %0\n"
		     : "=r"(kept)
		     : "r"(n)
		     : "memory");
	return kept == n;
}

/* begins with a five-byte nop */
long entry_nop(long n);
asm(".text\n.globl entry_nop\n.type entry_nop, @function\n.balign 16\n"
    "entry_nop: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
    "movq %rdi, -8(%rsp)\n"
    "movq -8(%rsp), %rax\n"
    "ret\n.size entry_nop, .-entry_nop\n");

static void nops(long count)
{
	long kept = 0, same = 0;

	place("leaf_nop", leaf_nop);
	place("leaf", (void *)leaf);
	place("entry_nop", (void *)entry_nop);
	begin();
	for (long i = 0; i < count; i++) {
		kept += leaf(0x1234567890 + i);
		same += entry_nop(i) == i;
	}
	printf("kept %ld\nsame %ld\n", kept, same);
}

/* Maps and unmaps, for which threads of one process take turns. */
static long mappings;

NOINLINE void *maps_memory(void *unused)
{
	const size_t bytes = 64 * PAGE;

	for (long i = 0; i < mappings; i++) {
		void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (memory == MAP_FAILED || munmap(memory, bytes))
			exit(3);
	}
	return unused;
}

static void contention(long threads, long times)
{
	pthread_t ids[64];

	mappings = times;
	place("maps_memory", (void *)maps_memory);
	begin();
	for (long i = 0; i < threads && i < 64; i++)
		pthread_create(&ids[i], NULL, maps_memory, NULL);
	for (long i = 0; i < threads && i < 64; i++)
		pthread_join(ids[i], NULL);
}

int main(int argc, char **argv)
{
	long n[3] = {};
	char byte;

	for (int i = 0; i < 3 && i + 2 < argc; i++)
		n[i] = atol(argv[i + 2]);
	if (!strcmp(argv[1], "faults"))
		faults(n[0], n[1]);
	else if (!strcmp(argv[1], "writes"))
		writes(n[0]);
	else if (!strcmp(argv[1], "durations"))
		durations(n[0]);
	else if (!strcmp(argv[1], "seldom"))
		seldom(n[0]);
	else if (!strcmp(argv[1], "waits"))
		waits();
	else if (!strcmp(argv[1], "sleeps"))
		sleeps(n[0], n[1]);
	else if (!strcmp(argv[1], "rate"))
		rate(n[0]);
	else if (!strcmp(argv[1], "usdt"))
		usdt(n[0], n[1], n[2]);
	else if (!strcmp(argv[1], "nops"))
		nops(n[0]);
	else if (!strcmp(argv[1], "contention"))
		contention(n[0], n[1]);
	puts("done");
	fflush(stdout);
	while (read(0, &byte, 1) == 1)
		;
	return 0;
}
