/* astray FILE | moved | made: has 60,000 mappings, and runs in code whose return address is no code at all. When stdin ends, a second
 * thread opens this library (see plugins.c) and runs in it, or in a page of its own program's code that it has moved to another
 * address, or in such a page of code made at run time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

/* The page of `moved` holds nothing else. */
__asm__(".text\n"
	".type astray, @function\n"
	"astray: .cfi_startproc\n"
	"pushq $0x1000\n"
	"1: incq (%rdi)\n"
	"jmp 1b\n"
	".cfi_endproc\n"
	".size astray, .-astray\n"
	".balign 4096\n"
	".type moved, @function\n"
	"moved: .cfi_startproc\n"
	"2: incq (%rdi)\n"
	"jmp 2b\n"
	".cfi_endproc\n"
	".size moved, .-moved\n"
	".balign 4096\n");
void astray(volatile unsigned long *count);
void moved(volatile unsigned long *count);

typedef void (*running)(volatile unsigned long *);

static volatile unsigned long counts[2];

static void *elsewhere(void *page)
{
	void *place = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return mremap(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
}

static void *second(void *what)
{
	/* incq (%rdi); jmp to it */
	static const unsigned char code[] = { 0x48, 0xff, 0x07, 0xeb, 0xfb };
	char byte;

	while (read(0, &byte, 1) > 0)
		;
	if (!strcmp(what, "moved")) {
		((running)elsewhere((void *)moved))(&counts[1]);
	} else if (!strcmp(what, "made")) {
		void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(page, code, sizeof(code));
		((running)elsewhere(page))(&counts[1]);
	} else {
		void *library = dlopen(what, RTLD_NOW);
		void (*spin)(long) = library ? (void (*)(long))dlsym(library, "spin") : NULL;
		if (!spin)
			_exit(1);
		spin(LONG_MAX);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char *pages = mmap(NULL, 60000L * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc < 2 || pages == MAP_FAILED || pthread_create(&thread, NULL, second, argv[1]))
		return 1;
	for (long page = 0; page < 60000; page += 2)
		if (mprotect(pages + page * PAGE, PAGE, PROT_READ))
			return 1;
	astray(&counts[0]);
}
