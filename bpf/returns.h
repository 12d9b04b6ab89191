/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Return addresses that the kernel took from a stack, since it probes these returns: how they are put back into the copy of that stack.
 */
#ifndef FLAMETOP_RETURNS_H
#define FLAMETOP_RETURNS_H

#include "sample.h"

/* A way along the calls of a task whose return is probed. */
struct returns {
	struct return_instance *call;
	__u64 probed; /* the address to which all of them return */
	__u64 sp;     /* where the copy of the stack begins … */
	__u64 behind; /* … and how many bytes of the sample's memory are in front of it */
	__u64 bytes;  /* of the copy */
	__u32 slot;
};

static long restore_return(__u32 i __attribute__((unused)), struct returns *returns)
{
	struct sample *sample = bpf_map_lookup_elem(&scratch, &returns->slot);
	struct return_instance *call = returns->call;
	__u64 at, *word;

	if (!call || !sample)
		return 1;
	at = call->stack - returns->sp;
	if (at < returns->bytes) {
		at = (at + returns->behind) & ~7ULL;
		asm volatile("" : "+r"(at));
		if (at > sizeof(sample->memory) - PAGE)
			return 1;
		word = (__u64 *)(sample->memory + at);
		/* a call that was left by a jump is in the list still, but no more on the stack */
		if (*word == returns->probed)
			*word = call->orig_ret_vaddr;
	}
	returns->call = call->next;
	return 0;
}

/* The address to which all calls of a process return whose return is probed; 0: there are none. */
static __u64 probed_return(struct mm_struct *mm)
{
	struct xol_area *area;

	if (!bpf_core_field_exists(mm->uprobes_state.xol_area) ||
	    !bpf_core_field_exists(struct xol_area, vaddr) || !mm)
		return 0;
	area = mm->uprobes_state.xol_area;
	return area ? area->vaddr : 0;
}

/*
 * Puts return addresses back that the kernel took from the stack of this task, since these returns are probed: into the copy from `sp` on,
 * of `bytes`, with so many bytes in front of it. A task that has just returned is at the address of all probed returns, where it may
 * have pushed three registers.
 *
 * Not static: see copy().
 */
__attribute__((noinline)) int restore_returns(__u32 slot, __u64 sp, __u64 behind, __u64 bytes)
{
	struct sample *sample = bpf_map_lookup_elem(&scratch, &slot);
	struct task_struct *t = bpf_get_current_task_btf();
	__u64 probed = probed_return(t->mm);
	struct returns returns = {
		.probed = probed,
		.sp = sp,
		.behind = behind,
		.bytes = bytes,
		.slot = slot,
	};
	struct uprobe_task *utask;
	struct return_instance *call;

	if (!sample || !probed || !bpf_core_field_exists(struct return_instance, orig_ret_vaddr))
		return 0;
	utask = t->utask;
	if (!utask)
		return 0;
	call = utask->return_instances;
	if (call && sample->stack.regs[REG_IP] - probed < PAGE && call->stack - sp + 8 <= 3 * 8) {
		sample->stack.regs[REG_IP] = call->orig_ret_vaddr;
		sample->stack.regs[REG_SP] = call->stack + 8;
	}
	returns.call = call;
	bpf_loop(MOST_PROBED, restore_return, &returns, 0);
	return 0;
}

#endif
