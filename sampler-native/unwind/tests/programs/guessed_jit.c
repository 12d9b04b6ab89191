/* Code made at run time, on whose stack the address of a place in a native function lies, as an old call left it. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
typedef void (*compiled)(void (*)(void), void *);
static volatile int sink;
static void *volatile stale;

static KEEP void asleep(void)
{
	puts("ready");
	fflush(stdout);
	pause();
	sink++;
}

static KEEP void note(void)
{
	stale = __builtin_return_address(0);
}

/* Called once, long ago: a walk must not show it. */
static KEEP void unrelated(void)
{
	note();
	sink++;
}

static KEEP void enter(compiled code)
{
	code(asleep, stale);
	sink++;
}

int main(void)
{
	/*
	 * outer: push rbp; mov rbp, rsp; call inner; pop rbp; ret; nop...
	 * inner, with its frame pointer at a frame of its own making below which no return address lies:
	 * pop rax; push rax; push rax; push rsi; push rbp; mov rbp, rsp; call rdi
	 */
	static const unsigned char code[] = {
		0x55, 0x48, 0x89, 0xe5, 0xe8, 0x0b, 0,    0,    0,    0x5d,
		0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0x58, 0x50, 0x50, 0x56, 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7,
	};
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(memory, code, sizeof(code));
	unrelated();
	enter((compiled)memory);
	return sink;
}
