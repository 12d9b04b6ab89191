/* Has a page of its own file mapped so many times to execute that no more go, and moves one of them without end. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#define PAGE 4096

static volatile unsigned long sink;

int main(void)
{
	int file = open("/proc/self/exe", O_RDONLY);
	char *last = MAP_FAILED;
	for (int left = 65500; left > 0; left--) {
		char *next = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
		if (next == MAP_FAILED)
			break;
		last = next;
	}
	puts("ready");
	fflush(stdout);
	for (;;) {
		int flags = MAP_PRIVATE | MAP_FIXED | (sink % 2 ? MAP_ANONYMOUS : 0);
		mmap(last, PAGE, PROT_READ | PROT_EXEC, flags, sink % 2 ? -1 : file, 0);
		for (int i = 0; i < 100000; i++)
			sink++;
		sink++;
	}
}
