/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All that differs between architectures: the registers of a task, and how functions are called.
 *
 * `regs` of a macro is a struct pt_regs, or the struct user_regs of an event. REGS_TO copies FT_REGS of them, in the order of DWARF.
 * Volatile: clang merges two branches that read alike, and then the verifier sees a modified ctx pointer.
 */
#ifndef FLAMETOP_REGISTERS_H
#define FLAMETOP_REGISTERS_H

#define READ_REG(r) (*(volatile unsigned long *)&(r))

#if defined(__TARGET_ARCH_x86)

struct user_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
/* since 6.9 cs and ss are narrower, within unions for FRED (ee63291aa8287c) */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	unsigned long ax, cx, dx, si, di, orig_ax, ip, cs, sp;
};
#pragma clang attribute pop

#define COPY_REGS(to, from)                       \
	do {                                      \
		(to)[0] = READ_REG((from)->ax);   \
		(to)[1] = READ_REG((from)->dx);   \
		(to)[2] = READ_REG((from)->cx);   \
		(to)[3] = READ_REG((from)->bx);   \
		(to)[4] = READ_REG((from)->si);   \
		(to)[5] = READ_REG((from)->di);   \
		(to)[6] = READ_REG((from)->bp);   \
		(to)[7] = READ_REG((from)->sp);   \
		(to)[8] = READ_REG((from)->r8);   \
		(to)[9] = READ_REG((from)->r9);   \
		(to)[10] = READ_REG((from)->r10); \
		(to)[11] = READ_REG((from)->r11); \
		(to)[12] = READ_REG((from)->r12); \
		(to)[13] = READ_REG((from)->r13); \
		(to)[14] = READ_REG((from)->r14); \
		(to)[15] = READ_REG((from)->r15); \
		(to)[16] = READ_REG((from)->ip);  \
	} while (0)
#define REG_BP 6
#define REG_SP 7
#define REG_IP 16

#define IP_OF(regs)       READ_REG((regs)->ip)
#define RETURNED_OF(regs) READ_REG((regs)->ax)
/* arguments of a function, from 0 to 5 */
#define ARGUMENT_0(regs) READ_REG((regs)->di)
#define ARGUMENT_1(regs) READ_REG((regs)->si)
#define ARGUMENT_2(regs) READ_REG((regs)->dx)
#define ARGUMENT_3(regs) READ_REG((regs)->cx)
#define ARGUMENT_4(regs) READ_REG((regs)->r8)
#define ARGUMENT_5(regs) READ_REG((regs)->r9)
/* what tells user mode, and 32-bit code */
#define MODE_OF(regs)   ((regs)->cs)
#define IS_USER(mode)   (((mode)&3) == 3)
#define IS_COMPAT(mode) (((mode)&0xffff) == 0x23)
/* of a struct pt_regs: an interrupt or a fault came in user mode, not a system call */
#define IS_WITHOUT_CALL(regs) ((regs)->orig_ax == -1UL)
/* bytes of the return address that a call leaves on the stack */
#define RETURN_BYTES 8
/* address of what the C library keeps of the thread, when the thread was switched to; 0: not known */
#define THREAD_POINTER(t) ((t)->thread.fsbase)

#elif defined(__TARGET_ARCH_arm64)

struct user_regs {
	unsigned long regs[31], sp, pc, pstate;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct pt_regs {
	unsigned long regs[31], sp, pc, pstate;
	int syscallno;
};
#pragma clang attribute pop

#define COPY_4(to, from, r)                                      \
	do {                                                     \
		(to)[(r)] = READ_REG((from)->regs[(r)]);         \
		(to)[(r) + 1] = READ_REG((from)->regs[(r) + 1]); \
		(to)[(r) + 2] = READ_REG((from)->regs[(r) + 2]); \
		(to)[(r) + 3] = READ_REG((from)->regs[(r) + 3]); \
	} while (0)
#define COPY_REGS(to, from)                            \
	do {                                           \
		COPY_4(to, from, 0);                   \
		COPY_4(to, from, 4);                   \
		COPY_4(to, from, 8);                   \
		COPY_4(to, from, 12);                  \
		COPY_4(to, from, 16);                  \
		COPY_4(to, from, 20);                  \
		COPY_4(to, from, 24);                  \
		(to)[28] = READ_REG((from)->regs[28]); \
		(to)[29] = READ_REG((from)->regs[29]); \
		(to)[30] = READ_REG((from)->regs[30]); \
		(to)[31] = READ_REG((from)->sp);       \
		(to)[32] = READ_REG((from)->pc);       \
	} while (0)
#define REG_BP 29
#define REG_SP 31
#define REG_IP 32

#define IP_OF(regs)           READ_REG((regs)->pc)
#define RETURNED_OF(r)        READ_REG((r)->regs[0])
#define ARGUMENT_0(r)         READ_REG((r)->regs[0])
#define ARGUMENT_1(r)         READ_REG((r)->regs[1])
#define ARGUMENT_2(r)         READ_REG((r)->regs[2])
#define ARGUMENT_3(r)         READ_REG((r)->regs[3])
#define ARGUMENT_4(r)         READ_REG((r)->regs[4])
#define ARGUMENT_5(r)         READ_REG((r)->regs[5])
#define MODE_OF(r)            ((r)->pstate)
/* EL0, and its bit of AArch32 */
#define IS_USER(mode)         (((mode)&0xf) == 0)
#define IS_COMPAT(mode)       (((mode)&0x10) != 0)
#define IS_WITHOUT_CALL(regs) ((regs)->syscallno == -1)
/* the link register has it */
#define RETURN_BYTES          0
/* the C library's structure lies below where the register points to, and how far is not known */
#define THREAD_POINTER(t)     ((void)(t), 0)

#else
#error "user registers are known for x86-64 and arm64 only"
#endif

#endif
