/* Moves a page of its own text to anonymous memory, as programs do that want huge pages for it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
#define PAGE 4096
static volatile int sink;

static KEEP void asleep(void)
{
	puts("ready");
	fflush(stdout);
	pause();
	sink++;
}

/* Alone in its page: the other one starts the next. */
static KEEP __attribute__((aligned(PAGE))) int moved(int n)
{
	asleep();
	return n + sink;
}

static KEEP __attribute__((aligned(PAGE))) int stays(int n)
{
	char *page = (char *)moved;
	void *copy = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(copy, page, PAGE);
	mprotect(copy, PAGE, PROT_READ | PROT_EXEC);
	return mremap(copy, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page) == page ? n : -1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return moved(stays(argc)) + sink;
}
