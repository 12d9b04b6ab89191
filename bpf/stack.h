/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the stack of the task that runs on this CPU is copied: its kernel stack, and of its user stack those parts that the walker
 * needs. The CPU clock and the events copy alike, into one ring, by what the walker has told: the maps of this file are shared
 * between their objects.
 *
 * An object that includes this file keeps its samples in a map `scratch`, whose key is a __u32, the *slot*.
 */
#ifndef FLAMETOP_STACK_H
#define FLAMETOP_STACK_H

#include "kernel.h"

#define READ_USER(word, address) bpf_probe_read_user(word, sizeof(*(word)), (void *)(address))
#include "chain.h"

#define PAGE         4096
#define KERNEL_PLACE 1024
#define KERNEL_BYTES (FT_KERNEL_FRAMES * sizeof(__u64))
/* frame pointers that are followed */
#define MOST_FRAMES 64
/* bytes below the place where another stack goes on: the frame that was left may begin there */
#define BELOW 1024

/* frames, and parts of one stack, that are followed in one interrupt */
#define MOST_STEPS    512
#define MOST_PARTS    256 /* a power of two */
#define MOST_SEARCHES 4
#define MOST_PIECES   (2 * MOST_PARTS)
/* samples of one thread that wake the reader at once; later ones wait as others do */
#define MOST_LESSONS 100
/* bytes of a stack that are copied whatever they hold: without unwind information they are searched for a return address */
#define INNERMOST 4096
/* bytes below the end of a frame in which a function saves registers; the rest of a larger frame is not needed */
#define SAVE_AREA 256

/* a mapping whose end is not known is taken to reach this far above the stack pointer */
#define UNKNOWN_MAPPING (8 * 1024 * 1024)

/* part of a stack */
struct part {
	__u64 from, to;
};

/* A way up a stack, frame by frame. */
struct climb {
	__u64 ip, sp, bp;
	__u64 end;      /* of the stack */
	__u64 from, to; /* the part that is growing */
	__u64 left;     /* bytes that may be copied still */
	__u64 parts;    /* finished parts */
	__u64 searched; /* bytes to search for a frame once the way was lost */
	__u32 image;
	__u32 lost; /* the step at `ip` is not known */
};

/* Chunk after chunk of the parts of a stack. */
struct fetch {
	__u64 at, to; /* of the part that is being copied */
	__u64 start;  /* of the chunks in the memory of the sample */
	__u64 used;   /* of that memory */
	__u64 part, parts;
	__u64 chunks;
};

struct sample {
	struct ft_head head;
#ifdef SAMPLES_EVENTS
	struct ft_event event;
#endif
	struct ft_stack stack;
	/* kernel stack, user stack, chunks, piece; a page of slack lets the verifier see that the last one fits */
	__u8 memory[KERNEL_PLACE + FT_CPU_STACK + PAGE];
	__u64 copied; /* bytes copied so far */
	/* State while a stack is looked at: the BPF stack is too small for it. */
	struct part parts[MOST_PARTS]; /* what is to be copied of the stack */
	struct climb climb;
	struct fetch fetch;
	struct follow follow;
#ifdef SAMPLES_EVENTS
	__u64 busy; /* a program fills the sample */
#endif
};
_Static_assert(KERNEL_BYTES <= KERNEL_PLACE, "the kernel stack has its place");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} ring SEC(".maps");

/*
 * By slot; not a per-CPU array, whose values have 32 KiB at most. The CPU clock, which nothing on its CPU interrupts but other
 * objects, has a slot for each CPU.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* slots, set before load */
	__type(key, __u32);
	__type(value, struct sample);
} scratch SEC(".maps");

/* the walker's request where FT_CPU_FIRST bytes do not lead to the root */
struct reach {
	__u64 near; /* where an earlier walk went on after it had left the stack, or had met a frame larger than these bytes */
	__u32 stack;  /* bytes of the stack */
	__u32 piece;  /* bytes from there on */
	__u32 follow; /* frame pointers may lead to the other stack */
	__u32 walk;   /* large frames may be left out where steps lead past them */
	__u32 told;   /* samples that woke the reader */
	__u32 unused;
};

/* the steps that the walker has told; the way ends at a page without any */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct ft_code_page);
	__type(value, struct ft_steps);
} steps SEC(".maps");

/* by tid, and by tgid << 32 for threads that have none */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct reach);
} reaches SEC(".maps");

/* pages that `steps` may have, by the low bits of their numbers */
#define PAGE_SLOTS 16384
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PAGE_SLOTS);
	__type(key, __u32);
	__type(value, __u8);
} pages SEC(".maps");

struct image {
	__u64 start_boottime;
	__u32 tgid;
	__u32 exec_id;
};

/* process images sampled before: a new one wakes the reader, which reads its mappings while it lives */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct image);
	__type(value, __u8);
} images SEC(".maps");

const volatile __u32 ring_bytes = 0; /* size of the ring, set before load */
__u64 most_stack; /* bytes that may be copied of each stack at this rate, set before the first sample */

/* how a sample wakes the reader of the ring */
static __always_inline __u64 wakeup(struct ft_head *head, bool teaches)
{
	struct image image = {
		.start_boottime = head->process_start_boottime,
		.tgid = head->tgid,
		.exec_id = head->self_exec_id,
	};
	__u8 one = 1, *seen = bpf_map_lookup_elem(&images, &image);

	if (!(head->status & FT_KTHREAD) && !seen) {
		bpf_map_update_elem(&images, &image, &one, BPF_ANY);
		return BPF_RB_FORCE_WAKEUP;
	}
	/* the first of its deep stacks */
	if (seen && *seen == 1 && head->status & FT_CLAMPED) {
		*seen = 2;
		return BPF_RB_FORCE_WAKEUP;
	}
	if (teaches)
		return BPF_RB_FORCE_WAKEUP;
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > ring_bytes / 4)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/*
 * Copies user memory behind the `used` bytes of the sample: at most `most`, up to the first page that is
 * missing. Returns how many bytes were copied, a multiple of 8 so that records stay aligned.
 *
 * Not static: the verifier checks the function once, rather than all that follows for each way out of the loop.
 */
__attribute__((noinline)) __u64 copy(struct sample *sample, __u64 used, __u64 address, __u64 most)
{
	if (!sample)
		return 0;
	/* the count is in memory, where the verifier does not track values: else it follows each sum of pages */
	volatile __u64 *copied = &sample->copied;

	*copied = 0;
	for (int i = 0; i < FT_CPU_STACK / PAGE + 1; i++) {
		__u64 done = *copied;
		__u64 at = used + done;
		__u64 from = address + done;
		__u64 n = PAGE - (from & (PAGE - 1));

		if (done >= most)
			break;
		if (n > most - done)
			n = most - done;
		asm volatile("" : "+r"(at), "+r"(n));
		if (n > PAGE || at > sizeof(sample->memory) - PAGE)
			break;
		if (bpf_probe_read_user(sample->memory + at, n, (void *)from))
			break;
		*copied = done + n;
	}
	return *copied & ~7ULL;
}

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
	__u64 at;

	if (!sample || !sample->follow.head.rest)
		return 1;
	at = sample->fetch.used;
	asm volatile("" : "+r"(at));
	if (at > sizeof(sample->memory) - PAGE)
		return 1;
	if (!follow_next(&sample->follow, (struct ft_chain_node *)(sample->memory + (at & ~7ULL))))
		return 1;
	sample->fetch.used = at + sizeof(struct ft_chain_node);
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
	struct ft_chain_key key = {};
	struct ft_chain_head *head;
	struct ft_chunk *chunk;
	struct ft_chain *how;
	__u64 at;

	if (!sample)
		return 0;
	key.tid = sample->head.tid;
	key.image = sample->head.image;
	how = bpf_map_lookup_elem(&chains, &key);
	at = sample->fetch.used;
	asm volatile("" : "+r"(at));
	if (!how || at > sizeof(sample->memory) - 2 * PAGE)
		return 0;
	sample->follow.how = *how;
	if (!follow_first(&sample->follow))
		return 0;
	at &= ~7ULL;
	sample->fetch.used = at + sizeof(*chunk) + sizeof(*head);
	bpf_loop(FT_CHAIN_NODES, follow_chain, &slot, 0);
	chunk = (struct ft_chunk *)(sample->memory + at);
	chunk->address = FT_CHAIN_ADDRESS;
	chunk->bytes = sample->fetch.used - at - sizeof(*chunk);
	head = (struct ft_chain_head *)(sample->memory + at + sizeof(*chunk));
	*head = sample->follow.head;
	sample->fetch.chunks++;
	return 0;
}

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
		__u64 sp, cs;

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
			cs = READ_REG(here->cs);
		} else {
			struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);

			COPY_REGS(sample->stack.regs, regs);
			cs = regs->cs;
		}
		if ((cs & 0xffff) == USER32_CS)
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
