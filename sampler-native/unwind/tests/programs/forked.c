// Sleeps in a child: of vfork, whose parent sleeps too, or of fork in a signal handler.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static void asleep(void)
{
	for (;;)
		pause();
}

static void say(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)!write(1, "ready\n", 6);
}

static void handler(int number)
{
	if (fork() == 0) {
		say();
		asleep();
	}
	wait(0);
	exit(number);
}

__attribute__((noinline)) static int spawn(void)
{
	if (vfork() == 0) {
		say();
		asleep();
		_exit(0);
	}
	return 1;
}

__attribute__((noinline)) static int outer(const char *how)
{
	if (!strcmp(how, "vfork"))
		return spawn() + 1;
	signal(SIGUSR1, handler);
	return raise(SIGUSR1) + 1;
}

int main(int argc, char **argv)
{
	return argc < 2 ? 2 : outer(argv[1]);
}
