// line RATE AHEAD LOG COMMAND…: runs COMMAND in a terminal at the other end of a slow line: what it
// writes arrives here at RATE bytes a second (0: at once), behind a buffer that takes AHEAD bytes in
// advance, as those of ssh and TCP do. What arrived is in the file LOG too. Keys and the size of the
// window go there at once. USR1 holds what arrives up, USR2 lets it go on. Ends with the exit code
// of COMMAND, 128 + n for a signal.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t resized = 1;
static volatile sig_atomic_t held;

static void on_signal(int number)
{
	if (number == SIGWINCH)
		resized = 1;
	else
		held = number == SIGUSR1;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, bytes, n);

		if (written < 0 && errno != EINTR)
			return;
		if (written > 0) {
			bytes += written;
			n -= written;
		}
	}
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: line RATE AHEAD LOG COMMAND...\n");
		return 2;
	}
	double rate = atof(argv[1]);
	size_t ahead = strtoul(argv[2], NULL, 10) + 1024;
	int log = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	char *buffer = malloc(ahead);
	size_t filled = 0;
	struct termios before, raw;
	struct winsize size;
	int master;

	if (log < 0 || !buffer || tcgetattr(0, &before) || ioctl(0, TIOCGWINSZ, &size)) {
		perror("line");
		return 1;
	}
	pid_t child = forkpty(&master, NULL, &before, &size);
	if (child < 0) {
		perror("line");
		return 1;
	}
	if (child == 0) {
		execvp(argv[4], argv + 4);
		_exit(127);
	}
	struct sigaction action = { .sa_handler = on_signal };
	sigaction(SIGWINCH, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	raw = before;
	cfmakeraw(&raw);
	tcsetattr(0, TCSANOW, &raw);

	double last = seconds(), allowed = 0;
	int open_end = 1;
	while (open_end || filled > 0) {
		struct pollfd fds[2] = {
			{ .fd = open_end ? 0 : -1, .events = POLLIN },
			{ .fd = open_end && filled < ahead ? master : -1, .events = POLLIN },
		};
		char keys[4096];

		if (resized) {
			resized = 0;
			ioctl(0, TIOCGWINSZ, &size);
			ioctl(master, TIOCSWINSZ, &size);
		}
		if (poll(fds, 2, filled > 0 ? 10 : 1000) < 0 && errno != EINTR)
			break;
		if (fds[0].revents & POLLIN) {
			ssize_t n = read(0, keys, sizeof(keys));

			if (n > 0)
				write_all(master, keys, n);
		}
		// A little at a time: the end of a pty that is not read holds its writer up.
		if (fds[1].revents & (POLLIN | POLLHUP)) {
			size_t room = ahead - filled;
			ssize_t n = read(master, buffer + filled, room);

			if (n > 0)
				filled += n;
			else if (n == 0 || errno != EINTR)
				open_end = 0;
		}
		double now = seconds();
		allowed = rate > 0 ? allowed + (now - last) * rate : filled;
		allowed = allowed > filled ? filled : allowed;
		last = now;
		if (allowed >= 1 && !held) {
			size_t n = allowed;

			write_all(1, buffer, n);
			write_all(log, buffer, n);
			memmove(buffer, buffer + n, filled - n);
			filled -= n;
			allowed -= n;
		}
		if (held)
			allowed = 0;
	}
	int status = 0;
	waitpid(child, &status, 0);
	tcsetattr(0, TCSANOW, &before);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
