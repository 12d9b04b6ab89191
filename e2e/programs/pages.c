/* Maps, touches and unmaps 100 pages in `few` and 400 in `many`, again and again, for as many seconds as its argument says. */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static __attribute__((noinline)) void touch(int pages)
{
	char *memory = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, (size_t)pages * PAGE, MADV_NOHUGEPAGE))
		exit(EXIT_FAILURE);
	for (int i = 0; i < pages; i++)
		*(volatile char *)(memory + (size_t)i * PAGE) = 1;
	munmap(memory, (size_t)pages * PAGE);
}

static __attribute__((noinline)) void few(void)
{
	touch(100);
	__asm__ volatile("");
}

static __attribute__((noinline)) void many(void)
{
	touch(400);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);

	while (time(NULL) < end) {
		few();
		many();
		usleep(20000);
	}
	return EXIT_SUCCESS;
}
