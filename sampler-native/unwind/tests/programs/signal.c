/* Asleep in a handler on a stack of its own, after a fault in a known function. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
static volatile int sink;
static int *volatile nowhere;

static KEEP void asleep(void)
{
	puts("ready");
	fflush(stdout);
	pause();
	sink++;
}

static KEEP void handler(int number)
{
	asleep();
	sink = number;
}

static KEEP int fault(void)
{
	return *nowhere;
}
static KEEP int caller(void)
{
	return fault() + sink;
}
static KEEP int outer(void)
{
	return caller() + sink;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handler };
	if (argc > 1 && !strcmp(argv[1], "alternate")) {
		stack_t stack = { .ss_sp = malloc(1 << 20), .ss_size = 1 << 20 };
		sigaltstack(&stack, NULL);
		action.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGSEGV, &action, NULL);
	return outer();
}
