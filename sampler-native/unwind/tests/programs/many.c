// Maps a page of its own file so many times (first argument) to execute, says so and sleeps.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int file = open("/proc/self/exe", O_RDONLY);
	for (int left = argc > 1 ? atoi(argv[1]) : 0; left > 0; left--)
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
			return 1;
	puts("ready");
	fflush(stdout);
	pause();
}
