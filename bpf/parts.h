/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of a user stack that the walker needs: how they are found, frame by frame, by the steps that the walker has told, and how
 * they are copied; and the copy of what an interpreter keeps outside of the stack.
 */
#ifndef FLAMETOP_PARTS_H
#define FLAMETOP_PARTS_H

#include "sample.h"

/*
 * Where the other stack goes on: where frame pointers leave the memory from `sp` to `end`. A register that is no frame
 * pointer leads anywhere, so that an address is believed only within 4 GiB of the one that the walker found before.
 */
__attribute__((noinline)) __u64 other_stack(__u64 frame, __u64 sp, __u64 end, __u64 near)
{
	for (int i = 0; i < MOST_FRAMES; i++) {
		if (frame < sp || frame >= end)
			return (frame ^ near) >> 32 ? near : frame;
		if (bpf_probe_read_user(&frame, sizeof(frame), (void *)frame))
			break;
	}
	return near;
}

/* Adds the memory from `from` to `to` to the parts that are copied; returns whether there was room. */
static __always_inline bool take_part(struct sample *sample, __u64 from, __u64 to)
{
	struct climb *climb = &sample->climb;
	__u64 parts = climb->parts;

	if (from <= climb->to + SAVE_AREA)
		from = climb->to;
	if (to <= from)
		return 1;
	if (to - from > climb->left)
		return 0;
	if (from != climb->to) {
		asm volatile("" : "+r"(parts));
		if (parts >= MOST_PARTS - 1)
			return 0;
		sample->parts[parts].from = climb->from;
		sample->parts[parts].to = climb->to;
		climb->parts = parts + 1;
		climb->from = from;
	}
	climb->left -= to - from;
	climb->to = to;
	return 1;
}

/* The known step of the code at `ip`. */
static __always_inline bool find_step(__u32 image, __u64 ip, struct ft_step *step)
{
	struct ft_code_page code = { .page = ip / PAGE, .image = image };
	struct ft_steps *known = bpf_map_lookup_elem(&steps, &code);
	__u32 at = ip % PAGE;

	for (int k = 0; known && k < FT_PAGE_STEPS; k++) {
		if (at >= known->of[k].from && at < known->of[k].to) {
			*step = known->of[k];
			return 1;
		}
	}
	return 0;
}

/* Where the frame ends; 0: not above the stack pointer, so that the step is of other code. */
static __always_inline __u64 frame_end(struct ft_step *step, __u64 sp, __u64 bp, __u64 end)
{
	__u64 cfa = (step->flags & FT_STEP_BP ? bp : sp) + (__s64)step->cfa;

	if (step->flags & FT_STEP_DEREF) {
		if (bpf_probe_read_user(&cfa, sizeof(cfa), (void *)cfa))
			return 0;
		cfa += (__s64)step->add;
	}
	return cfa > sp && cfa <= end ? cfa : 0;
}

static long climb_step(__u32 i __attribute__((unused)), __u32 *slot)
{
	struct sample *sample = bpf_map_lookup_elem(&scratch, slot);
	struct ft_step step = {};
	struct climb *climb;
	__u64 cfa, ra, bp, saved;

	if (!sample)
		return 1;
	climb = &sample->climb;
	climb->lost = !find_step(climb->image, climb->ip, &step);
	if (climb->lost || step.flags & FT_STEP_ROOT)
		return 1;
	bp = climb->bp;
	cfa = frame_end(&step, climb->sp, bp, climb->end);
	if (!cfa) {
		climb->lost = 1;
		return 1;
	}
	saved = climb->sp & ~7ULL;
	if (cfa - saved > 4 * SAVE_AREA)
		saved = (cfa - SAVE_AREA) & ~7ULL;
	if (!take_part(sample, saved, (cfa + 7) & ~7ULL))
		return 1;
	if (bpf_probe_read_user(&ra, sizeof(ra), (void *)(cfa - 8)) || !ra)
		return 1;
	if (step.flags & (FT_STEP_SAVED | FT_STEP_SAVED_AT)) {
		saved = (step.flags & FT_STEP_SAVED ? cfa : bp) + (__s64)step.bp;
		if (bpf_probe_read_user(&bp, sizeof(bp), (void *)saved))
			return 1;
	}
	climb->ip = ra - 1;
	climb->sp = cfa;
	climb->bp = bp;
	return 0;
}

/*
 * Whether a walk that lost its way below can go on at this word of the stack: the word is a return address into known code,
 * and the frame of that code ends at a return address into known code too. A wrong guess only copies memory that nobody needs.
 */
static long look_for_frame(__u32 i, __u32 *slot)
{
	struct sample *sample = bpf_map_lookup_elem(&scratch, slot);
	struct ft_step step = {};
	struct climb *climb;
	__u64 ra, sp, cfa, at = i * 8ULL;
	__u32 place;
	__u8 *any;

	asm volatile("" : "+r"(at));
	if (!sample || at >= INNERMOST)
		return 1;
	climb = &sample->climb;
	if (at >= climb->searched)
		return 1;
	ra = *(__u64 *)(sample->memory + KERNEL_PLACE + at);
	place = ra / PAGE % PAGE_SLOTS;
	any = bpf_map_lookup_elem(&pages, &place);
	if (!any || !*any || !find_step(climb->image, ra - 1, &step) || step.flags & FT_STEP_ROOT)
		return 0;
	sp = climb->sp + at + 8;
	cfa = frame_end(&step, sp, climb->bp, climb->end);
	if (!cfa || bpf_probe_read_user(&cfa, sizeof(cfa), (void *)(cfa - 8)) ||
	    !find_step(climb->image, cfa - 1, &step))
		return 0;
	if (!take_part(sample, climb->sp & ~7ULL, sp & ~7ULL))
		return 1;
	climb->ip = ra - 1;
	climb->sp = sp;
	climb->lost = 0;
	return 1;
}

static long fetch_piece(__u32 i __attribute__((unused)), __u32 *slot)
{
	struct sample *sample = bpf_map_lookup_elem(&scratch, slot);
	struct ft_chunk *chunk;
	struct fetch *fetch;
	__u64 used, at, n;

	if (!sample)
		return 1;
	fetch = &sample->fetch;
	if (fetch->at >= fetch->to) {
		__u64 part = fetch->part + 1;

		asm volatile("" : "+r"(part));
		if (part >= fetch->parts || part >= MOST_PARTS)
			return 1;
		fetch->part = part;
		fetch->at = sample->parts[part].from;
		fetch->to = sample->parts[part].to;
	}
	used = fetch->used;
	at = fetch->at;
	if (used > sizeof(sample->memory) - 2 * PAGE)
		return 1;
	n = copy(sample, used + sizeof(*chunk), at, fetch->to - at);
	/* a page that was never touched, or is not in memory: copy from the next page on */
	fetch->at = at + n < fetch->to ? (at + n + PAGE) & ~(PAGE - 1ULL) : fetch->to;
	if (!n)
		return 0;
	chunk = (struct ft_chunk *)(sample->memory + (used & ~7ULL));
	chunk->address = at;
	chunk->bytes = n;
	fetch->used = used + sizeof(*chunk) + n;
	fetch->chunks++;
	return 0;
}

static long follow_chain(__u32 i __attribute__((unused)), __u32 *slot)
{
	struct sample *sample = bpf_map_lookup_elem(&scratch, slot);
	struct ft_chain_node *node;
	__u64 at;

	if (!sample || !sample->follow.head.rest)
		return 1;
	at = sample->fetch.used;
	asm volatile("" : "+r"(at));
	if (at > sizeof(sample->memory) - PAGE)
		return 1;
	node = (struct ft_chain_node *)(sample->memory + (at & ~7ULL));
	/* 6.1 forgets the bound of a number that waits on the stack, but not that of a pointer */
	asm volatile("" : "+r"(node));
	if (!follow_next(&sample->follow, node))
		return 1;
	sample->fetch.used += sizeof(*node);
	return 0;
}

/*
 * Copies the frames that an interpreter keeps outside of the stack, as one more chunk.
 *
 * Not static: see copy().
 */
__attribute__((noinline)) int copy_chain(__u32 slot)
{
	struct sample *sample = bpf_map_lookup_elem(&scratch, &slot);
	struct ft_chain_head *head;
	struct ft_chunk *chunk;
	__u64 at;

	if (!sample)
		return 0;
	if (!find_chain(&sample->follow, &sample->head, THREAD_POINTER(bpf_get_current_task_btf())))
		return 0;
	at = sample->fetch.used;
	asm volatile("" : "+r"(at));
	if (at > sizeof(sample->memory) - 2 * PAGE)
		return 0;
	at &= ~7ULL;
	chunk = (struct ft_chunk *)(sample->memory + at);
	asm volatile("" : "+r"(chunk)); /* as in follow_chain() */
	if (!follow_first(&sample->follow))
		return 0;
	sample->fetch.used = at + sizeof(*chunk) + sizeof(*head);
	bpf_loop(FT_CHAIN_NODES, follow_chain, &slot, 0);
	chunk->address = FT_CHAIN_ADDRESS;
	chunk->bytes = sample->fetch.used - at - sizeof(*chunk);
	head = (struct ft_chain_head *)(chunk + 1);
	*head = sample->follow.head;
	sample->fetch.chunks++;
	return 0;
}

#endif
