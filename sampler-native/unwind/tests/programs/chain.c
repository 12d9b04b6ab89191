/* Ten functions, asleep in libc below the last. FRAME: bytes of locals in each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef FRAME
#define FRAME 8
#endif
#define KEEP __attribute__((noinline, noclone))

static volatile int sink;

static KEEP void use(volatile char *bytes)
{
	bytes[0] = 1;
}

static KEEP int f9(int n)
{
	volatile char locals[FRAME];
	struct timespec forever = { 100000, n };
	use(locals);
	puts("ready");
	fflush(stdout);
	nanosleep(&forever, NULL);
	return sink + locals[0];
}

#define LINK(name, next)                               \
	static KEEP int name(int n)                    \
	{                                              \
		volatile char locals[FRAME];           \
		use(locals);                           \
		return next(n + 1) + sink + locals[0]; \
	}
LINK(f8, f9)
LINK(f7, f8)
LINK(f6, f7)
LINK(f5, f6)
LINK(f4, f5)
LINK(f3, f4)
LINK(f2, f3)
LINK(f1, f2)
LINK(f0, f1)

static void *thread(void *argument)
{
	sink = f0(*(int *)argument);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t id;
	if (argc > 1 && !strcmp(argv[1], "thread")) {
		pthread_create(&id, NULL, thread, &argc);
		pthread_join(id, NULL);
	}
	return f0(argc);
}
