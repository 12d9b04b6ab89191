// titles: four processes with awkward command lines. The first changes its name and its title a thousand times a second, with control
// characters and broken UTF-8 in both; the second has a command line of 1.9 MB; the third has none; the fourth starts children that
// live a moment, each with a title of its own. `titles SECONDS` ends after so many seconds.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void nap(long microseconds)
{
	struct timespec time = { microseconds / 1000000, microseconds % 1000000 * 1000 };
	nanosleep(&time, NULL);
}

static void burn(long milliseconds)
{
	struct timespec begin, now;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
	       milliseconds);
}

// Writes over the words of the command line, which has room for that.
static void title(char *words, size_t room, unsigned number)
{
	char name[32];

	snprintf(words, room, "t%u \033[31m\033]0;owned\007 \xff\xfe%u;x", number, number);
	snprintf(name, sizeof(name), "t%u\033[2J\xff;", number);
	prctl(PR_SET_NAME, name);
}

static pid_t started(void (*what)(char **), char **argv)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		what(argv);
		_exit(0);
	}
	return child;
}

static void change(char **argv)
{
	for (unsigned number = 0;; number++) {
		title(argv[0], strlen("titles of some length at the beginning"), number);
		burn(1);
		nap(100);
	}
}

static void long_line(char **argv)
{
	enum {
		WORDS = 16,
		LENGTH = 120 << 10
	};
	char *words[WORDS + 2] = { (char *)"long-line" };

	(void)argv;
	for (int i = 1; i <= WORDS; i++) {
		words[i] = malloc(LENGTH);
		memset(words[i], 'a' + i, LENGTH - 1);
		words[i][LENGTH - 1] = 0;
	}
	execv("/proc/self/exe", words);
}

static void no_line(char **argv)
{
	memset(argv[0], 0, strlen(argv[0]));
	prctl(PR_SET_NAME, "no-line");
	for (;;) {
		burn(5);
		nap(5000);
	}
}

static void many(char **argv)
{
	for (unsigned number = 0;; number++) {
		pid_t child = fork();
		if (child == 0) {
			title(argv[0], strlen("titles of some length at the beginning"),
			      1000000 + number);
			burn(3);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		nap(2000);
	}
}

int main(int argc, char **argv)
{
	char *words[] = { (char *)"titles of some length at the beginning", NULL };
	pid_t children[4];

	if (strcmp(argv[0], "long-line") == 0) {
		prctl(PR_SET_NAME, argv[0]);
		for (;;) {
			burn(5);
			nap(5000);
		}
	}
	if (argc > 1) {
		setenv("TITLES", argv[1], 1);
		execv("/proc/self/exe", words);
		return 1;
	}
	children[0] = started(change, argv);
	children[1] = started(long_line, argv);
	children[2] = started(no_line, argv);
	children[3] = started(many, argv);
	sleep((unsigned)atoi(getenv("TITLES")));
	for (int i = 0; i < 4; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	return 0;
}
