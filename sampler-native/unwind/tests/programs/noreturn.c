/* The call is the last instruction: it returns to whatever comes next. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
static volatile int sink;

static KEEP __attribute__((noreturn)) void never(void)
{
	puts("ready");
	fflush(stdout);
	pause();
	exit(sink);
}

KEEP void last(int n)
{
	sink = n;
	never();
}

KEEP int next(int n)
{
	return n + sink;
}

int main(int argc, char **argv)
{
	(void)argv;
	last(argc);
	return next(argc);
}
