/*
 * Leaves functions by longjmp, once a byte has come on stdin: jumps FRAMES COUNT lets the functions of the frames call each other, and
 * leaves them by a jump into `lands`, COUNT times; jumps signal COUNT leaves a handler that runs on a stack of its own, and what the signal
 * came upon; jumps before COUNT jumps by a buffer that was filled before the byte came.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static jmp_buf there;
static sigjmp_buf there_of_signals;
static volatile long sink;

/* so seldom that no budget keeps a stack back */
static void rest(void)
{
	const struct timespec time = { .tv_nsec = 5000000 };

	nanosleep(&time, NULL);
}

static void begin(void)
{
	char byte;

	if (read(0, &byte, 1) != 1)
		_exit(1);
}

KEEP static int five(int n)
{
	rest();
	longjmp(there, n + 1);
}

#define LINK(from, to)                         \
	KEEP static int from(int n)            \
	{                                      \
		char room[100 + n];            \
		memset(room, n, sizeof(room)); \
		int r = to(n + 1);             \
		sink += room[r & 7];           \
		return r + 1;                  \
	}

LINK(four, five)
LINK(three, four)
LINK(two, three)
LINK(one, two)

KEEP static int lands(int frames)
{
	int came = setjmp(there);

	if (!came)
		sink += frames == 5 ? one(0) : four(0);
	return came;
}

KEEP static int again(int count)
{
	volatile int left = count;
	int came = setjmp(there);

	if (!came)
		begin();
	if (left-- > 0)
		sink += one(0);
	return came;
}

KEEP static void handle(int signal)
{
	rest();
	siglongjmp(there_of_signals, signal);
}

KEEP static int interrupted(void)
{
	raise(SIGUSR1);
	return sink++;
}

KEEP static int lands_by_signal(void)
{
	int came = sigsetjmp(there_of_signals, 1);

	if (!came)
		sink += interrupted();
	return came;
}

int main(int argc, char **argv)
{
	static char room[65536];
	const stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
	int count = argc == 3 ? atoi(argv[2]) : 0;

	if (!count)
		return 2;
	if (!strcmp(argv[1], "before"))
		return !again(count);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	begin();
	for (int i = 0; i < count; i++)
		sink += argv[1][0] == 's' ? lands_by_signal() : lands(atoi(argv[1]));
	begin();
}
