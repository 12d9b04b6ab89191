/* Maps a page of its own code again and again, in bursts, so that the kernel cannot tell of all mappings. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	int file = open("/proc/self/exe", O_RDONLY);
	for (;;) {
		for (int i = 0; i < 5000; i++)
			munmap(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0), 4096);
		usleep(100000);
	}
}
