/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the stack of the task that runs on this CPU is copied: its kernel stack, and of its user stack those parts that the walker
 * needs. The CPU clock and the events copy alike, into one ring, by what the walker has told: the maps of `sample.h` are shared
 * between their objects.
 */
#ifndef FLAMETOP_STACK_H
#define FLAMETOP_STACK_H

#include "parts.h"
#include "returns.h"

/*
 * Fills the sample of the slot from the head on, and returns how many bytes the record has. `t` is the task that runs. `ctx` begins
 * with the registers of this moment; in user mode, these are those of the user half. `teaches`: the walker may learn from this sample.
 */
static __always_inline __u64 copy_stack(void *ctx, struct task_struct *t, struct sample *sample,
					__u32 *slot, bool user_mode, bool *teaches)
{
	struct user_regs *here = ctx;
	__u32 chunks = 0;
	__u64 kernel_bytes = 0, user_bytes = 0, piece_bytes = 0, chunk_bytes = 0;

	sample->head.status |= FT_HAS_STACK;
	__builtin_memset(&sample->stack, 0, sizeof(sample->stack));

	if (user_mode) {
		sample->head.status |= FT_USER_MODE;
	} else {
		long bytes = bpf_get_stack(ctx, sample->memory, KERNEL_BYTES, 0);

		if (bytes > 0)
			kernel_bytes = bytes;
		else
			sample->head.status |= FT_NO_KERNEL_STACK;
	}

	if (!(sample->head.status & (FT_KTHREAD | FT_STRANGER)) && t->mm) {
		struct mapping mapping = {};
		__u64 whose = sample->head.tid, most = FT_CPU_FIRST, limit;
		struct reach *reach = bpf_map_lookup_elem(&reaches, &whose);
		__u64 sp, mode;

		if (!reach) {
			whose = (__u64)sample->head.tgid << 32;
			reach = bpf_map_lookup_elem(&reaches, &whose);
		}
		if (reach)
			most = reach->stack;
		if (most > most_stack)
			most = most_stack;
		limit = most;

		if (user_mode) {
			COPY_REGS(sample->stack.regs, here);
			mode = READ_REG(MODE_OF(here));
		} else {
			struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);

			COPY_REGS(sample->stack.regs, regs);
			mode = MODE_OF(regs);
		}
		if (IS_COMPAT(mode))
			sample->head.status |= FT_COMPAT;
		sp = sample->stack.regs[REG_SP];
		sample->stack.user_address = sp;
		/* if the mapping is not to be had (mmap_lock is held), the copy ends at the first page that is missing */
		if (!bpf_find_vma(t, sp, take_mapping, &mapping, 0)) {
			sample->stack.mapping_start = mapping.start;
			sample->stack.mapping_end = mapping.end;
			/* the first time a deep stack is copied to its end, if it fits */
			if (!reach && mapping.end - sp <= most_stack)
				most = mapping.end - sp;
			if (mapping.end - sp > most)
				sample->head.status |= FT_CLAMPED;
			else
				most = mapping.end - sp;
		}
		struct climb *climb = &sample->climb;
		struct fetch *fetch = &sample->fetch;
		__u64 parts = 0;

		climb->from = sp;
		climb->to = sp + most;
		if (reach && reach->walk) {
			__u64 end = mapping.end ? mapping.end : sp + UNKNOWN_MAPPING;
			__u64 rest = end - sp;

			climb->ip = sample->stack.regs[REG_IP];
			climb->sp = sp;
			climb->bp = sample->stack.regs[REG_BP];
			climb->end = end;
			climb->to = sp;
			climb->left = limit;
			climb->parts = 0;
			climb->image = sample->head.image;
			climb->lost = 0;
			take_part(sample, sp, sp + (rest < INNERMOST ? rest : INNERMOST));
			bpf_loop(MOST_STEPS, climb_step, slot, 0);
			for (int k = 0; k < MOST_SEARCHES && climb->lost; k++) {
				climb->searched = copy(sample, KERNEL_PLACE, climb->sp, INNERMOST);
				bpf_loop(INNERMOST / 8, look_for_frame, slot, 0);
				if (climb->lost)
					break;
				bpf_loop(MOST_STEPS, climb_step, slot, 0);
			}
			/* the rest of the stack, where the way on is not known */
			rest = end - climb->to;
			if (climb->lost)
				climb->to += rest < climb->left ? rest : climb->left;
			*teaches = climb->lost && reach->told < MOST_LESSONS;
			reach->told += *teaches;
			parts = climb->parts;
		}
		/* masked here: of a number that was on the stack since, some verifiers do not keep what a comparison told */
		asm volatile("" : "+r"(parts));
		parts &= MOST_PARTS - 1;
		sample->parts[parts].from = climb->from;
		sample->parts[parts].to = climb->to;
		fetch->to = sample->parts[0].to;
		user_bytes = copy(sample, kernel_bytes, sp, fetch->to - sp);
		restore_returns(*slot, sp, kernel_bytes, user_bytes);
		fetch->at = sp + user_bytes;
		if (fetch->at < fetch->to)
			fetch->at = (fetch->at + PAGE) & ~(PAGE - 1ULL);
		fetch->used = kernel_bytes + user_bytes;
		fetch->part = 0;
		fetch->parts = parts + 1;
		fetch->chunks = 0;
		if (user_bytes) {
			bpf_loop(MOST_PIECES, fetch_piece, slot, 0);
			copy_chain(*slot);
			chunk_bytes = fetch->used - kernel_bytes - user_bytes;
			chunks = fetch->chunks;
		}
		if (!user_bytes)
			sample->head.status |= FT_FAULTED;
		if (reach && reach->piece && user_bytes) {
			__u64 at = reach->near, used;

			if (reach->follow)
				at = other_stack(sample->stack.regs[REG_BP], sp, sp + user_bytes,
						 at);
			at = (at - BELOW) & ~7ULL;
			most = reach->piece;
			if (most > most_stack)
				most = most_stack;
			used = kernel_bytes + user_bytes + chunk_bytes;
			piece_bytes = copy(sample, used, at, most);
			if (!piece_bytes) {
				at = (at + PAGE) & ~(PAGE - 1ULL);
				piece_bytes = copy(sample, used, at, most);
			}
			sample->stack.piece_address = piece_bytes ? at : 0;
		}
	}

	sample->stack.kernel_bytes = kernel_bytes;
	sample->stack.user_bytes = user_bytes;
	sample->stack.piece_bytes = piece_bytes;
	sample->stack.chunk_bytes = chunk_bytes;
	sample->stack.chunks = chunks;
	sample->stack.switches_after = sample->head.nvcsw + sample->head.nivcsw;

	__u64 size = __builtin_offsetof(struct sample, memory) + kernel_bytes + user_bytes +
		     chunk_bytes + piece_bytes;

	sample->head.size = size;
	asm volatile("" : "+r"(size));
	if (size > sizeof(*sample))
		size = sizeof(*sample);
	return size;
}

#endif
