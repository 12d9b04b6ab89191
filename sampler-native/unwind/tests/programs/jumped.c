/* Code that is jumped to in the midst of another function's frame, and only jumps on: as Haskell's is, by its runtime. */
#include <stdio.h>

#define KEEP __attribute__((noinline, noclone))
static volatile int sink;

void run_code(void *const *code);
void first(void);
void second(void);

__asm__(".text\n"
	".globl run_code\n"
	".type run_code, @function\n"
	"run_code:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset rbx, -16\n"
	"	sub $16384, %rsp\n"
	"	.cfi_adjust_cfa_offset 16384\n"
	"	movq $0, (%rsp)\n"
	"	mov %rdi, %rbx\n"
	"	jmp *(%rbx)\n"
	"	.cfi_endproc\n"
	".size run_code, . - run_code\n"
	".globl first\n"
	".type first, @function\n"
	"first:\n"
	"	nop\n"
	"	jmp *8(%rbx)\n"
	".size first, . - first\n"
	".globl second\n"
	".type second, @function\n"
	"second:\n"
	"	mov $1, %eax\n"
	"	jmp *(%rbx)\n"
	".size second, . - second\n");

static KEEP void schedule(void)
{
	static void *const code[] = { first, second };
	run_code(code);
	sink++;
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	schedule();
	return sink;
}
