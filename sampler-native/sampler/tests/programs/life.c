/* Tasks that come and go. `threads`: short threads without end; `thread-exec`: a second thread calls exec when stdin ends; `forks`:
 * processes without end; `sleepers N`: N threads asleep; `deep N`: asleep under N bytes of stack, `deep N signal`: then under 40
 * KiB more of an alternate one, `deep N handler`: the same on the CPU, `deep N busy`: on the CPU, `deep N naps`: asleep for 60 ms
 * at a time, in one of two functions; `huge`: on the CPU below a frame of 512 KiB. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static int busy, handler, signals, naps;

static void nap(long us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
	nanosleep(&t, NULL);
}

static void *short_thread(void *arg)
{
	for (int i = 0; i < 200000; i++)
		sink += i;
	nap(3000);
	return arg;
}

static void *exec_thread(void *arg)
{
	char byte;
	if (read(0, &byte, 1) >= 0) /* until the test says so */
		execl("/bin/sleep", "replaced", "1000", NULL);
	return arg;
}

static void *sleeping_thread(void *arg)
{
	pause();
	return arg;
}

__attribute__((noinline)) static int nap_here(void)
{
	nap(60000);
	return (int)++sink;
}

__attribute__((noinline)) static int nap_there(void)
{
	nap(60000);
	return (int)++sink + 1;
}

__attribute__((noinline)) static int bottom(void)
{
	if (signals) {
		signals = 0;
		raise(SIGUSR1);
	}
	while (naps)
		sink += nap_here() + nap_there();
	return pause();
}

__attribute__((noinline)) static int deep(long left)
{
	char room[1024];
	memset(room, (int)left, sizeof(room));
	while (left <= 0 && busy)
		sink += left;
	if (left <= 0)
		return bottom() + room[sink & 1023];
	int r = deep(left - 1024);
	return r + room[r & 1023];
}

static long deep_bytes;

/* A frame that is larger than all that is copied, and most of it never touched. */
__attribute__((noinline)) static int huge(void)
{
	char room[512 * 1024];
	memset(room, (int)sink, 1024);
	int r = deep(0);
	return r + room[r & 1023];
}

__attribute__((noinline)) static int deep_to_huge(long left)
{
	char room[1024];
	memset(room, (int)left, sizeof(room));
	int r = left <= 0 ? huge() : deep_to_huge(left - 1024);
	return r + room[r & 1023];
}

static void on_signal(int number)
{
	(void)number;
	busy = handler;
	deep(40960);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "threads")) {
		pthread_t t[4];
		for (;;) {
			for (int i = 0; i < 4; i++)
				if (pthread_create(&t[i], NULL, short_thread, NULL))
					return 1;
			for (int i = 0; i < 4; i++)
				pthread_join(t[i], NULL);
		}
	} else if (!strcmp(what, "thread-exec")) {
		pthread_t t;
		pthread_create(&t, NULL, sleeping_thread, NULL);
		pthread_create(&t, NULL, exec_thread, NULL);
		pause();
	} else if (!strcmp(what, "forks")) {
		for (;;) {
			pid_t child = fork();
			if (!child) {
				for (int i = 0; i < 1000000; i++)
					sink += i;
				_exit(0);
			}
			waitpid(child, NULL, 0);
		}
	} else if (!strcmp(what, "sleepers")) {
		pthread_attr_t attr;
		pthread_t t;
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 64 * 1024);
		for (int i = 0; i < atoi(argv[2]); i++)
			if (pthread_create(&t, &attr, sleeping_thread, NULL))
				return 1;
		pause();
	} else if (!strcmp(what, "deep")) {
		deep_bytes = argc > 2 ? atol(argv[2]) : 100000;
		busy = argc > 3 && !strcmp(argv[3], "busy");
		naps = argc > 3 && !strcmp(argv[3], "naps");
		handler = argc > 3 && !strcmp(argv[3], "handler");
		if (handler || (argc > 3 && !strcmp(argv[3], "signal"))) {
			stack_t other = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
			struct sigaction action = { .sa_handler = on_signal,
						    .sa_flags = SA_ONSTACK };
			sigaltstack(&other, NULL);
			sigaction(SIGUSR1, &action, NULL);
			signals = 1;
		}
		return deep(deep_bytes);
	} else if (!strcmp(what, "huge")) {
		busy = 1;
		return deep_to_huge(10000);
	}
	return 2;
}
