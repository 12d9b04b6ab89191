/* Never sleeps: libc through a lazily bound linkage table, and the vDSO. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))
static volatile int sink;
static const char *volatile text = "flame";

static KEEP int inner(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int)now.tv_nsec + (int)strlen(text) + (strchr(text, 'm') != NULL);
}

static KEEP int middle(void)
{
	return inner() + sink;
}
static KEEP int outer(void)
{
	return middle() + sink;
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		sink = outer() & 1;
}
