// Sleeps while an exception is on its way: the personality routine of a function in assembly, called by the
// unwinder in its search for a handler.
#include <cstdio>
#include <unistd.h>
#include <unwind.h>

extern "C" _Unwind_Reason_Code personality(int, _Unwind_Action, _Unwind_Exception_Class,
                                           _Unwind_Exception *, _Unwind_Context *) {
  puts("ready");
  fflush(stdout);
  for (;;)
    pause();
}

// Nothing but a frame with a personality routine of its own.
extern "C" void passes(void (*callee)());
__asm__(".text\n"
        ".type passes, @function\n"
        "passes:\n"
        "  .cfi_startproc\n"
        "  .cfi_personality 0x9b, DW.ref.ours\n"
        "  sub $8, %rsp\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  call *%rdi\n"
        "  add $8, %rsp\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size passes, .-passes\n"
        ".section .data.rel.local,\"aw\"\n"
        "DW.ref.ours: .quad personality\n"
        ".text\n");

[[gnu::noinline]] void throws() { throw 1; }

int main() {
  try {
    passes(throws);
  } catch (int) {
    return 1;
  }
}
