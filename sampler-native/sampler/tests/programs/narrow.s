# A program of 32 bits: pauses without an argument, and runs with one.
.globl _start
_start:
  push %ebp
  mov %esp, %ebp
  cmpl $1, 4(%ebp)
  jne 2f
1: mov $29, %eax
  int $0x80
  jmp 1b
2: call 3f
  jmp 2b
3: nop
  ret
