# A program of 32 bits: says that it is ready, and pauses.
.globl _start
_start:
  push %ebp
  mov %esp, %ebp
  mov $4, %eax
  mov $1, %ebx
  mov $text, %ecx
  mov $6, %edx
  int $0x80
1: mov $29, %eax
  int $0x80
  jmp 1b
text: .ascii "ready\n"
