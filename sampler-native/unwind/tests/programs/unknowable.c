/* Asleep below a function in assembly of which nobody can say how large its frame is. */
#include <stdio.h>
#include <unistd.h>

void unknowable(long size);

void asleep(void)
{
	puts("ready");
	fflush(stdout);
	pause();
}

__asm__(".globl unknowable\n"
	".type unknowable, @function\n"
	"unknowable:\n"
	"	and $-16, %rdi\n"
	"	sub %rdi, %rsp\n"
	"	mov %rdi, 8(%rsp)\n"
	"	call asleep\n"
	"	add 8(%rsp), %rsp\n"
	"	ret\n"
	".size unknowable, . - unknowable\n");

static volatile long size = 136;

int main(void)
{
	unknowable(size + 8);
	return (int)size;
}
