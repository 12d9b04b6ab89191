/* Never sleeps: blocks so large that the C library maps and unmaps each. */
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline, noclone))
static char *volatile block;

static KEEP void allocs(void)
{
	block = malloc(1 << 20);
	block[5] = 1;
	free(block);
	block = NULL;
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		allocs();
}
