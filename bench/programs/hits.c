/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hits KIND SECONDS [PAUSE]: makes hits of one source of events, and prints each tenth of a second how many ns a hit took by its own
 * clock. KIND: call (of `hit`), usdt (`flametop:hit`), syscall (getppid), fault (of a fresh page). PAUSE: ns of work between two hits.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE  4096
#define PAGES 16384
#define PART  100000000

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

__attribute__((noinline, noclone)) long hit(long n)
{
	asm volatile("" : "+r"(n));
	return n + 1;
}

/* as sys/sdt.h makes it, without arguments */
__attribute__((noinline, noclone)) void probe(void)
{
	asm volatile("990: nop\n"
		     ".pushsection .note.stapsdt,\"\",\"note\"\n"
		     ".balign 4\n"
		     ".4byte 992f-991f, 994f-993f, 3\n"
		     "991: .asciz \"stapsdt\"\n"
		     "992: .balign 4\n"
		     "993: .8byte 990b\n"
		     ".8byte _.stapsdt.base\n"
		     ".8byte 0\n"
		     ".asciz \"flametop\"\n"
		     ".asciz \"hit\"\n"
		     ".asciz \"\"\n"
		     "994: .balign 4\n"
		     ".popsection\n"
		     ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
		     ".weak _.stapsdt.base\n"
		     ".hidden _.stapsdt.base\n"
		     "_.stapsdt.base: .space 1\n"
		     ".size _.stapsdt.base, 1\n"
		     ".popsection\n");
}

static char *memory;

static void one(char kind, long n)
{
	switch (kind) {
	case 'c':
		hit(n);
		break;
	case 'u':
		probe();
		break;
	case 's':
		syscall(SYS_getppid);
		break;
	default:
		if (n % PAGES == 0)
			madvise(memory, PAGES * PAGE, MADV_DONTNEED);
		*(volatile char *)(memory + n % PAGES * PAGE) = 1;
	}
}

/* the turns of an empty loop that take a ns, times 1024 */
static uint64_t turns_of_ns(void)
{
	uint64_t before = now();

	for (volatile long i = 0; i < 10000000; i++)
		;
	return 10000000ULL * 1024 / (now() - before);
}

int main(int argc, char **argv)
{
	uint64_t end = now() + atol(argv[2]) * 1000000000ULL, began = now();
	long turns = argc > 3 ? atol(argv[3]) * turns_of_ns() / 1024 : 0, n = 0;

	memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
	while (began < end) {
		uint64_t spent, hits = 0;

		do {
			for (int i = 0; i < 512; i++, n++) {
				one(argv[1][0], n);
				for (volatile long turn = 0; turn < turns; turn++)
					;
			}
			hits += 512;
			spent = now() - began;
		} while (spent < PART);
		printf("%.2f\n", (double)spent / hits);
		fflush(stdout);
		began += spent;
	}
	return 0;
}
