/* plugins FIRST SECOND US US: opens two libraries in turn, each for so long on the CPU, until stdin ends. It prints a line for each
 * time: name, then begin and end of what it did there (CLOCK_MONOTONIC, ns). It ends with 3 if they are not at one place.
 * Compiled with -DNAME=name it is such a library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

#ifdef NAME
#define JOIN(a, b)  a##b
#define NAMED(a, b) JOIN(a, b)
static volatile unsigned long sink;

__attribute__((noinline)) void NAMED(NAME, _work)(long end)
{
	while (now() < end)
		for (int i = 0; i < 1000; i++)
			sink += i;
}

__attribute__((noinline)) void spin(long end)
{
	NAMED(NAME, _work)(end);
	sink++;
}
#else
int main(int argc, char **argv)
{
	void *place = NULL;
	struct pollfd in = { .fd = 0, .events = POLLIN | POLLHUP };

	if (argc < 5)
		return 2;
	for (int turn = 0; poll(&in, 1, 0) == 0; turn = !turn) {
		const char *path = argv[1 + turn];
		void *library = dlopen(path, RTLD_NOW);
		void (*spin)(long) = library ? (void (*)(long))dlsym(library, "spin") : NULL;
		if (!spin)
			return 1;
		if (!place)
			place = (void *)spin;
		if (place != (void *)spin)
			return 3;
		long begin = now();
		spin(begin + atol(argv[3 + turn]) * 1000);
		printf("%s %ld %ld\n", strrchr(path, '/') + 1, begin, now());
		dlclose(library);
	}
	return 0;
}
#endif
