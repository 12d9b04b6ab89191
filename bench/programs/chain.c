// SPDX-License-Identifier: Apache-2.0
// chain SECONDS [sleep]: calls its functions f0 … f11 in random order and depth, busy in each of them, or now and then asleep.
// Keeps its true chain of calls in a variable on its stack, in the outermost frame, so that who copies the stack copies it too.
//
// One moment cannot be told by the variable: between the call and the note of it, and between the end of the note and the return. `next`
// says that this moment is on: then the chain is the one noted or that with `next` below it, and either is true.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FUNCTIONS 12
#define DEPTH     40
#define LIBRARY   100 /* in a function of libc, or on the way into it or out of it */

struct chain {
	unsigned long magic[2];
	unsigned int depth, next;
	unsigned int calls[DEPTH + 4];
};

typedef void function(volatile struct chain *, unsigned long *);
static function *const functions[FUNCTIONS];
static volatile unsigned long sink;
static int sleeping;

static inline unsigned long random_number(unsigned long *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static inline __attribute__((always_inline)) void note(volatile struct chain *c, unsigned int id)
{
	c->calls[c->depth] = id;
	c->depth++;
	c->next = 0;
}

static inline __attribute__((always_inline)) void call(volatile struct chain *c,
						       unsigned long *seed, unsigned int id)
{
	c->next = id + 1;
	functions[id](c, seed);
	c->next = 0;
}

static inline __attribute__((always_inline)) void
body(volatile struct chain *c, unsigned long *seed, unsigned int id, char *room, unsigned long size)
{
	unsigned long n = random_number(seed);

	room[n % size] = (char)n;
	for (unsigned long i = 0; i < n % 3000; i++)
		sink = sink * 6364136223846793005ul + i;
	if (n >> 32 & 1 && c->depth < DEPTH)
		call(c, seed, (id + 1 + (n >> 40) % (FUNCTIONS - 1)) % FUNCTIONS);
	if ((n >> 33 & 7) == 0) {
		c->next = LIBRARY;
		if (sleeping) {
			struct timespec t = { 0, (long)(n >> 36 & 0x3fffff) };
			nanosleep(&t, NULL);
		} else if (n >> 36 & 1) {
			int numbers[64];
			for (int i = 0; i < 64; i++)
				numbers[i] = (int)(n * i >> 8);
			qsort(numbers, 64, sizeof(*numbers), compare);
			sink += numbers[9];
		} else {
			getppid();
		}
		c->next = 0;
	}
	sink += room[n % size];
	if (n >> 50 & 1 && c->depth < DEPTH)
		call(c, seed, (id + 1 + (n >> 52) % (FUNCTIONS - 1)) % FUNCTIONS);
}

#define FUNCTION(id, size)                                                      \
	__attribute__((noinline, noclone)) void f##id(volatile struct chain *c, \
						      unsigned long *seed)      \
	{                                                                       \
		char room[size];                                                \
		note(c, id + 1);                                                \
		body(c, seed, id, room, sizeof(room));                          \
		c->next = id + 1;                                               \
		c->depth--;                                                     \
	}
// clang-format off: it takes these for the head of a function
FUNCTION(0, 8)
FUNCTION(1, 16)
FUNCTION(2, 24)
FUNCTION(3, 40)
FUNCTION(4, 64)
FUNCTION(5, 100)
FUNCTION(6, 128)
FUNCTION(7, 8)
FUNCTION(8, 200)
FUNCTION(9, 32)
FUNCTION(10, 16)
FUNCTION(11, 56)
// clang-format on

static function *const functions[FUNCTIONS] = { f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static double end;

__attribute__((noinline)) void *outermost(void *arg)
{
	volatile struct chain c = { .magic = { 0x666c616d65746f70ul, 0x7472757468636861ul } };
	unsigned long seed = 88172645463325252ul + (unsigned long)arg;

	while (c.next = LIBRARY, now() < end) {
		c.next = 0;
		for (int i = 0; i < 100; i++)
			call(&c, &seed, random_number(&seed) % FUNCTIONS);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[4];

	if (argc < 2) {
		fprintf(stderr, "usage: chain SECONDS [sleep]\n");
		return 2;
	}
	sleeping = argc > 2 && !strcmp(argv[2], "sleep");
	end = now() + atof(argv[1]);
	for (long i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, outermost, (void *)(i * 7919)))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
