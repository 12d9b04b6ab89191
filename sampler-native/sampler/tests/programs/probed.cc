/* SPDX-License-Identifier: Apache-2.0 */
// Functions of C++ and of C that are called so often as the argument says, and take time by the program's own clock; it throws, too. Prints
// `ready`, begins when told, prints `spun NS` and `worked NS` (around the calls), `spun within NS` and `worked within NS` (in the functions),
// and ends with its stdin.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

static unsigned long now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000UL + t.tv_nsec;
}

static unsigned long spun_within, worked_within;

// Spins; adds the time that it took.
static inline __attribute__((always_inline)) void spin_for(long us, unsigned long &within)
{
	unsigned long begin = now(), at = begin;

	while (at < begin + us * 1000)
		at = now();
	within += at - begin;
}

namespace space {
struct Spinner {
	__attribute__((noinline)) long spin(long us);
	__attribute__((noinline)) long spin(char us);
};

long Spinner::spin(long us)
{
	spin_for(us, spun_within);
	return us + 1;
}

long Spinner::spin(char us)
{
	asm volatile("" ::: "memory");
	return us;
}
} // namespace space

// In the dynamic table of symbols, which `strip` leaves.
extern "C" __attribute__((noinline, visibility("default"))) long work(long us)
{
	spin_for(us, worked_within);
	return us * 2;
}

__attribute__((noinline)) void throws_often(int n)
{
	for (int i = 0; i < n; i++) {
		try {
			throw i;
		} catch (int) {
		}
	}
}

// Of another body than that of `throws_often`: else the compiler makes one function of both.
static long caught;

__attribute__((noinline)) void throws_seldom(int n)
{
	while (n-- > 0) {
		try {
			throw "seldom";
		} catch (const char *text) {
			caught += text[0];
		}
	}
}

int main(int, char **argv)
{
	int count = atoi(argv[1]);
	space::Spinner spinner;
	volatile long sum = 0;
	unsigned long before, spun, worked;
	char byte;

	puts("ready");
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		return 0;
	before = now();
	for (int i = 0; i < count; i++)
		sum = sum + spinner.spin(2000L);
	spun = now() - before;
	before = now();
	for (int i = 0; i < count; i++)
		sum = sum + work(1000);
	worked = now() - before;
	for (int i = 0; i < 3 * count; i++)
		sum = sum + spinner.spin('a');
	throws_often(5 * count);
	throws_seldom(count);
	printf("spun %lu\nspun within %lu\n", spun, spun_within);
	printf("worked %lu\nworked within %lu\n", worked, worked_within);
	fflush(stdout);
	while (read(0, &byte, 1) == 1)
		;
	return 0;
}
