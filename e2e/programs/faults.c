/* Touches 300 fresh pages in `small` and 700 in `large` when a line comes, and ends with the next one. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096

static char *memory;

static __attribute__((noinline)) void touch(int pages)
{
	for (int i = 0; i < pages; i++) {
		*(volatile char *)memory = 1;
		memory += PAGE;
	}
}

static __attribute__((noinline)) void small(void)
{
	touch(300);
	__asm__ volatile("");
}

static __attribute__((noinline)) void large(void)
{
	touch(700);
	__asm__ volatile("");
}

int main(void)
{
	char line[100];

	memory = mmap(NULL, 1000 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED || madvise(memory, 1000 * PAGE, MADV_NOHUGEPAGE))
		return EXIT_FAILURE;
	if (!fgets(line, sizeof(line), stdin))
		return EXIT_FAILURE;
	small();
	large();
	return fgets(line, sizeof(line), stdin) ? EXIT_SUCCESS : EXIT_FAILURE;
}
