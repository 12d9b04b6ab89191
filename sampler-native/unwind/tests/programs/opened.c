// Sleeps in a library that it has opened, and then removed.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#ifdef LIBRARY
__attribute__((noinline)) static int inner(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

int plugin(void);
int plugin(void)
{
	return inner() + 1;
}
#else
int main(int argc, char **argv)
{
	void *library = argc < 2 ? 0 : dlopen(argv[1], RTLD_NOW);
	if (!library)
		return 1;
	int (*plugin)(void) = (int (*)(void))dlsym(library, "plugin");
	remove(argv[1]);
	return plugin() + 1;
}
#endif
