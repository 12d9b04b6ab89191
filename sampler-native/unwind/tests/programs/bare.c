/* Never sleeps: functions in assembly without unwind information, called by one whose frame only the frame pointer leads to. */
#include <alloca.h>
#include <stdio.h>
#include <string.h>

long leaf(long);
long red_zone(long);
long pushes(long);
long early(long);
long pointer(long);
long aligned(long);
long moved(long);
long tail(long);
long entered(long);
long hidden(long);
long chosen(long);
long probed(long);
long forwards(long);
long private(long);

__asm__(".text\n"
	".macro function name\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".endm\n"
	".macro end name\n"
	".size \\name, . - \\name\n"
	".endm\n"
	"function leaf\n"
	"	nop\n"
	"	lea 1(%rdi), %rax\n"
	"	ret\n"
	"end leaf\n"
	"function red_zone\n"
	"	mov %rdi, -16(%rsp)\n"
	"	addq $1, -16(%rsp)\n"
	"	mov -16(%rsp), %rax\n"
	"	rep ret\n"
	"end red_zone\n"
	"function pushes\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	push %r12\n"
	"	sub $32, %rsp\n"
	"	mov $3, %ebp\n"
	"	mov %rdi, %rbx\n"
	"1:	mov %rbx, %rdi\n"
	"	call leaf\n"
	"	mov %rax, %rbx\n"
	"	mov %rax, 8(%rsp)\n"
	"	dec %ebp\n"
	"	jnz 1b\n"
	"	add $32, %rsp\n"
	"	pop %r12\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n"
	"end pushes\n"
	"function early\n"
	"	test $1, %dil\n"
	"	jz 2f\n"
	"	push %rbp\n"
	"	sub $16, %rsp\n"
	"	xor %ebp, %ebp\n"
	"	call leaf\n"
	"	test $2, %al\n"
	"	jz 1f\n"
	"	add $16, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	"1:	lea 16(%rsp), %rsp\n"
	"	pop %rbp\n"
	"2:	mov %rdi, %rax\n"
	"	ret\n"
	"end early\n"
	"function pointer\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rbx\n"
	"	sub %rdi, %rsp\n"
	"	and $-32, %rsp\n"
	"	mov $7, %ebx\n"
	"	call pushes\n"
	"	mov -8(%rbp), %rbx\n"
	"	leave\n"
	"	ret\n"
	"end pointer\n"
	/* As OpenSSL's. */
	"function aligned\n"
	"	mov %rsp, %rax\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	sub $200, %rsp\n"
	"	and $-64, %rsp\n"
	"	mov %rax, 152(%rsp)\n"
	"	mov $1, %ebp\n"
	"	mov $2, %ebx\n"
	"	call leaf\n"
	"	mov 152(%rsp), %rsi\n"
	"	mov -16(%rsi), %rbp\n"
	"	mov -8(%rsi), %rbx\n"
	"	lea (%rsi), %rsp\n"
	"	ret\n"
	"end aligned\n"
	"function moved\n"
	"	sub $40, %rsp\n"
	"	mov %rbp, 8(%rsp)\n"
	"	mov %rbx, 16(%rsp)\n"
	"	xor %ebp, %ebp\n"
	"	xor %ebx, %ebx\n"
	"	call leaf\n"
	"	mov 8(%rsp), %rbp\n"
	"	mov 16(%rsp), %rbx\n"
	"	add $40, %rsp\n"
	"	ret\n"
	"end moved\n"
	"function tail\n"
	"	push %rbp\n"
	"	mov $5, %ebp\n"
	"	call leaf\n"
	"	mov %rax, %rdi\n"
	"	pop %rbp\n"
	"	jmp pushes\n"
	"end tail\n"
	"function entered\n"
	"	enter $48, $0\n"
	"	mov %rdi, -8(%rbp)\n"
	"	call leaf\n"
	"	leave\n"
	"	ret\n"
	"end entered\n"
	/* No symbol says where it starts. */
	".Lno_symbol:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	mov $9, %ebp\n"
	"	push %rdi\n"
	"	call leaf\n"
	"	pop %rdi\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".globl hidden\n"
	/* Neither a kind nor a size, and places in it that look like more functions. */
	"hidden:\n"
	"	push %rbp\n"
	"	sub $64, %rsp\n"
	"	mov $4, %ebp\n"
	"inside:	call .Lno_symbol\n"
	"	dec %ebp\n"
	"	jnz inside\n"
	"behind:	add $64, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	/* Parts that only an address in a table leads to. */
	"function chosen\n"
	"	push %rbp\n"
	"	sub $32, %rsp\n"
	"	mov %edi, %eax\n"
	"	and $1, %eax\n"
	"	lea 3f(%rip), %rdx\n"
	"	movslq (%rdx, %rax, 4), %rax\n"
	"	add %rdx, %rax\n"
	"	jmp *%rax\n"
	"1:	xor %ebp, %ebp\n"
	"	call leaf\n"
	"	jmp 4f\n"
	"2:	mov $1, %ebp\n"
	"	call leaf\n"
	"	nop\n"
	"4:	add $32, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	"end chosen\n"
	".section .rodata\n"
	".align 4\n"
	"3:	.long 1b - 3b, 2b - 3b\n"
	".text\n"
	/* As compilers touch each page of a large frame. */
	"function probed\n"
	"	push %rbp\n"
	"	lea -16384(%rsp), %r11\n"
	"1:	sub $4096, %rsp\n"
	"	orq $0, (%rsp)\n"
	"	cmp %r11, %rsp\n"
	"	jne 1b\n"
	"	mov $1, %ebp\n"
	"	call leaf\n"
	"	add $16384, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	"end probed\n"
	/* As musl's qsort compares: behind a function is one that is a jump, called by its address. */
	"function forwards\n"
	"	push %rbp\n"
	"	lea leaf(%rip), %rsi\n"
	"	lea .Lforward(%rip), %rax\n"
	"	xor %ebp, %ebp\n"
	"	call *%rax\n"
	"	pop %rbp\n"
	"	ret\n"
	"end forwards\n"
	".Lforward:\n"
	"	jmp *%rsi\n"
	/* As x264's: what it calls leaves the register alone in which it keeps the stack pointer. */
	"function private\n"
	"	mov %rsp, %rcx\n"
	"	and $-32, %rsp\n"
	"	sub $96, %rsp\n"
	"	call .Lhelper\n"
	"	sub $64, %rsp\n"
	"	call .Lhelper\n"
	"	mov 40(%rsp), %rax\n"
	"	mov %rcx, %rsp\n"
	"	ret\n"
	"end private\n"
	".Lhelper:\n"
	"	lea 1(%rdi), %rax\n"
	"	mov %rax, 48(%rsp)\n"
	"	ret\n");

static volatile long sink;
static volatile long size = 64;

static __attribute__((noinline, noclone)) long work(long n)
{
	char *bytes = alloca(size);
	memset(bytes, 1, size);
	n += leaf(n) + red_zone(n) + pushes(n) + early(n) + early(n + 1) + pointer(64);
	n += aligned(n) + moved(n) + tail(n) + entered(n) + hidden(n) + chosen(n) + chosen(n + 1);
	n += probed(n) + forwards(n) + private(n);
	return n + bytes[size - 1];
}

int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		sink = work(sink);
}
