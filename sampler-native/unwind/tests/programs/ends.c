/* Functions whose last call does not come back, so that what seems to follow it is the next one. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEEP __attribute__((noipa))
static volatile int sink;

static KEEP int asleep(int n)
{
	puts("ready");
	fflush(stdout);
	pause();
	return n + sink;
}

KEEP __attribute__((noreturn)) void inner(int n, int *numbers)
{
	numbers[0] = asleep(n);
	exit(numbers[0] + asleep(n));
}

KEEP int between(int n)
{
	int numbers[4] = { n, n, n, asleep(n) };
	return asleep(n) + numbers[n & 3] + asleep(numbers[1]);
}

KEEP __attribute__((noreturn)) void outer(int n)
{
	int numbers[8] = { n };
	if (sink)
		sink = between(n);
	inner(n, numbers);
}

int main(int argc, char **argv)
{
	if (argc > 5)
		exit(between(argc));
	sink = argv[0][0] == 0;
	outer(argc);
}
