/* many FOLDER COUNT: calls the function of each of the libraries FOLDER/0.so, FOLDER/1.so … in turn, 1 ms each, for a minute. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;
	void (**turn)(void) = calloc(count, sizeof(*turn));

	alarm(60);
	for (int i = 0; i < count; i++) {
		char path[4096];
		void *library;

		snprintf(path, sizeof(path), "%s/%d.so", argv[1], i);
		library = dlopen(path, RTLD_NOW);
		if (!library)
			return 1;
		turn[i] = (void (*)(void))dlsym(library, "turn");
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		for (int i = 0; i < count; i++)
			turn[i]();
}
