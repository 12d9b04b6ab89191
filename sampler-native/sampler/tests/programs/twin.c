/* twin US: children one after the other, each so long on the CPU in NAME_work(), until stdin ends. It prints where that is.
 * Compiled with -DNAME=name; another name of as many letters makes a program of the same layout. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define JOIN(a, b)  a##b
#define NAMED(a, b) JOIN(a, b)
static volatile unsigned long sink;

static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noinline)) void NAMED(NAME, _work)(long ns)
{
	while (now() < ns)
		for (int i = 0; i < 1000; i++)
			sink += i;
}

int main(int argc, char **argv)
{
	struct pollfd in = { .fd = 0, .events = POLLIN | POLLHUP };

	if (argc < 2)
		return 2;
	printf("%p\n", (void *)NAMED(NAME, _work));
	fflush(stdout);
	while (poll(&in, 1, 0) == 0) {
		if (fork() == 0) {
			NAMED(NAME, _work)(atol(argv[1]) * 1000);
			_exit(0);
		}
		wait(NULL);
	}
	return 0;
}
