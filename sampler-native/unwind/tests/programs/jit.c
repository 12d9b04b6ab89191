/* Machine code made at run time, with a frame pointer and without. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
static volatile int sink;

static KEEP void asleep(void)
{
	puts("ready");
	fflush(stdout);
	pause();
	sink++;
}

typedef void (*compiled)(void (*)(void));

static KEEP void enter(compiled code)
{
	code(asleep);
	sink++;
}

int main(int argc, char **argv)
{
	/* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
	static const unsigned char with[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	/* push rbp; mov ebp, 1; sub rsp, 16; call rdi; add rsp, 16; pop rbp; ret */
	static const unsigned char without[] = { 0x55, 0xbd, 1,    0,  0,    0,
						 0x48, 0x83, 0xec, 16, 0xff, 0xd7,
						 0x48, 0x83, 0xc4, 16, 0x5d, 0xc3 };
	int framed = argc > 1 && !strcmp(argv[1], "framed");
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, framed ? with : without, framed ? sizeof(with) : sizeof(without));
	enter((compiled)code);
	return sink;
}
