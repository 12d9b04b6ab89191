/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sample with the copy of a stack, in memory and in the ring: its layout, the maps that the objects share, by which the walker tells
 * which stacks need more, and how user memory is copied behind what the sample has.
 *
 * An object that includes this file keeps its samples in a map `scratch`, whose key is a __u32, the *slot*.
 */
#ifndef FLAMETOP_SAMPLE_H
#define FLAMETOP_SAMPLE_H

#include "kernel.h"

#define READ_USER(follow, bytes, address) \
	bpf_probe_read_user((follow)->window, bytes, (void *)(address))
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

#endif
