/* Code made at run time with frame pointers on a stack of its own, called by a function on the first one: as Lisp's is. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int sink;

void enter(void *code, void *stack, void (*asleep)(void));

__asm__(".text\n"
	".globl enter\n"
	".type enter, @function\n"
	"enter:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register rbp\n"
	"	mov %rsi, %rsp\n"
	"	call *%rdi\n"
	"	leave\n"
	"	.cfi_def_cfa rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size enter, . - enter\n");

static __attribute__((noinline, noclone)) void asleep(void)
{
	puts("ready");
	fflush(stdout);
	pause();
	sink++;
}

int main(void)
{
	/* push rbp; mov rbp, rsp; call rdx; pop rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd2, 0x5d, 0xc3 };
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *stack = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);

	memcpy(memory, code, sizeof(code));
	enter(memory, stack + (1 << 15), asleep);
	return sink;
}
