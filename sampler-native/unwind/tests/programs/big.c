// Sleeps in assembly without unwind information, called by a function whose frame is larger than one piece of
// stack.
#include <stdio.h>
#include <string.h>

void asleep(void);
__asm__(".text\n"
	".globl asleep\n"
	".type asleep, @function\n"
	"asleep:\n"
	"  push %rbp\n"
	"  push %rbx\n"
	"  mov $1, %ebp\n"
	"1: mov $34, %eax\n" // pause
	"  syscall\n"
	"  jmp 1b\n"
	".size asleep, .-asleep\n");

__attribute__((noinline)) static int large(int depth)
{
	volatile char room[40000];
	memset((char *)room, depth, sizeof room);
	asleep();
	return room[depth];
}

int main(int argc, char **argv)
{
	puts("ready");
	fflush(stdout);
	return large(argc) + (argv == 0);
}
