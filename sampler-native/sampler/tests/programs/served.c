/* Acts as nobody. `FILLER FILE code`: runs code in a page of a file that somebody else's program serves. `FILLER - args`: the second page of
 * its arguments, of which FILLER is several, is one that it should serve itself (userfaultfd) and never does. Ends by itself after five
 * minutes. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int sink;

static void *map(int fd)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	/* A file that is closed later is asked about at the end of this process. */
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/* What an older kernel lets everybody do. */
static int serve_never(uintptr_t page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .range = { .start = page, .len = 4096 }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (mmap((void *)page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return 0;
	return !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &range);
}

__attribute__((noinline)) static int served(int (*code)(void))
{
	return code() + sink;
}

int main(int argc, char **argv)
{
	int (*code)(void) = NULL;
	int fd;

	if (argc < 4)
		return 2;
	alarm(300);
	fd = open(argv[2], O_RDONLY);
	if (!strcmp(argv[3], "args") && !serve_never(((uintptr_t)argv[1] + 4095) & ~(uintptr_t)4095))
		return 4;
	if (setgid(65534) || setuid(65534))
		return 3;
	if (!strcmp(argv[3], "code")) {
		code = (int (*)(void))(uintptr_t)map(fd);
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
