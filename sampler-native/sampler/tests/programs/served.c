/* Acts as nobody, or as the user USER, and has a page of a file that somebody else's program serves. `FILLER FILE code [USER]`: runs code there; `FILLER FILE args [USER]`: in
 * the place of the second page of its arguments, of which FILLER is several. Ends by itself after five minutes. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile int sink;

static void *map(int fd, void *place)
{
	void *at = mmap(place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | (place ? MAP_FIXED : 0),
			fd, 0);
	/* A file that is closed later is asked about at the end of this process. */
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

__attribute__((noinline)) static int served(int (*code)(void))
{
	return code() + sink;
}

int main(int argc, char **argv)
{
	int (*code)(void) = NULL;
	int fd, user;

	if (argc < 4)
		return 2;
	alarm(300);
	fd = open(argv[2], O_RDONLY);
	user = argc > 4 ? atoi(argv[4]) : 65534;
	if (setgid(user) || setuid(user))
		return 3;
	if (!strcmp(argv[3], "args")) {
		if (!map(fd, (void *)(((uintptr_t)argv[1] + 4095) & ~(uintptr_t)4095)))
			return 4;
	} else {
		code = (int (*)(void))(uintptr_t)map(fd, NULL);
		if (!code)
			return 5;
		code();
	}
	for (;;) {
		struct timespec t = { .tv_nsec = 5000000 };
		for (int i = 0; i < 50; i++)
			sink += code ? served(code) : i;
		nanosleep(&t, NULL);
	}
}
