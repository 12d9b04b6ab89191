/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records that go from the kernel to the native side. This file is their only definition:
 * the BPF programs include it, and the build of the native side makes its own types from it.
 *
 * Fixed-width fields, no padding, native byte order. Every record begins with
 * struct ft_head; `size` says where the next one starts.
 */
#ifndef FLAMETOP_H
#define FLAMETOP_H

#define FT_ABI 12

#ifdef __TARGET_ARCH_arm64
#define FT_REGS 33 /* DWARF order: x0..x30 sp pc */
#else
#define FT_REGS 17 /* DWARF order: rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip */
#endif
#define FT_COMM          16
#define FT_KERNEL_FRAMES 127
#define FT_PASS_STACK    (16 * 1024) /* bytes of user stack copied by a pass */
#define FT_PASS_PIECE    (8 * 1024)  /* bytes of the second piece that the walker asked for */
#define FT_CPU_STACK     (96 * 1024) /* most bytes that the CPU clock copies of a task */
#define FT_CPU_FIRST     (16 * 1024) /* … while nothing is known of the task */
#define FT_PAGE_STEPS    16          /* most steps of one page of code */
#define FT_MAX_CPUS      1024        /* most CPUs whose idle time is kept */
#define FT_IDLE_STATES   10          /* CPUIDLE_STATE_MAX */
#define FT_EVENT_SLOTS   2   /* stacks of events that one CPU copies at a time, one in another */
#define FT_WEIGHTS       64  /* classes of weights, by powers of two */
#define FT_LOGARITHMS    256 /* steps of the table of logarithms */
#define FT_PREDICATES    16  /* most comparisons of a filter */
#define FT_TEXT          16  /* bytes of a text that a filter compares, with the NUL */
#define FT_WAKERS        3   /* most wakers behind a waker that are told of */
#define FT_CHAIN_NODES   512 /* most nodes of a chain that are copied of a task on a CPU */
#define FT_PASS_NODES    128 /* … and by a pass */

/* kind of a record */
enum ft_kind {
	FT_KIND_TASK = 1,  /* one task, seen by a pass */
	FT_KIND_CPU = 2,   /* one task, seen by the CPU clock */
	FT_KIND_EXIT = 3,  /* a task ended */
	FT_KIND_EXEC = 4,  /* a process image was replaced */
	FT_KIND_MARK = 5,  /* a task exists: written when known and visited tasks are compared */
	FT_KIND_FREE = 6,  /* a task that ended runs no more: the record has its last sums */
	FT_KIND_EVENT = 7, /* one task, at a hit of a source of events: struct ft_event */
	FT_KIND_WAKER = 8, /* the task that ended a wait, whose event comes later */
	FT_KIND_FORK = 9,  /* a process began; only numbers, start and parent are told */
};

/* state of a task: the BPF programs derive it, so that no other code knows the kernel's bits */
enum ft_state {
	FT_STATE_RUN = 0,
	FT_STATE_RUNQ = 1,
	FT_STATE_SLEEP = 2,        /* S */
	FT_STATE_DISK = 3,         /* D */
	FT_STATE_STOPPED = 4,      /* T */
	FT_STATE_ZOMBIE = 5,       /* Z */
	FT_STATE_PARKED = 6,       /* P */
	FT_STATE_IDLE_KTHREAD = 7, /* I */
};

/* bits of ft_head.status */
enum ft_status {
	FT_HAS_STACK = 1 << 0,  /* struct ft_stack follows the head */
	FT_KTHREAD = 1 << 1,    /* no user half */
	FT_USER_MODE = 1 << 2,  /* CPU clock: the task was in user mode, without a kernel stack */
	FT_LAST_ENTRY = 1 << 3, /* user registers are those of the last kernel entry */
	FT_CLAMPED = 1 << 4,    /* the mapping holds more stack than was copied */
	FT_MM_BUSY = 1 << 5,    /* mmap_lock was held: no user stack */
	FT_FAULTED = 1 << 6,    /* the copy of the user stack failed */
	FT_NO_MAPPING = 1 << 7, /* sp lies in no mapping */
	FT_TORN = 1 << 8,       /* the task ran while it was read */
	FT_NO_KERNEL_STACK = 1 << 9,
	FT_EXITING = 1 << 10,
	FT_PIECE_FAILED = 1 << 11, /* the piece that was asked for could not be copied */
	FT_GROUP_DEAD = 1 << 12,   /* exit: the last thread of its process */
	FT_COMPAT = 1 << 13,       /* 32-bit user half */
	FT_ABSENT = 1 << 14,       /* a copy ended at a page that is not in memory */
	FT_INTERRUPT = 1 << 15,    /* waker: most likely in an interrupt */
	FT_STRANGER = 1 << 16,     /* waker: not in the target: no user stack */
};

struct ft_head {
	__u32 size;   /* bytes of the whole record, this head included */
	__u16 kind;   /* enum ft_kind */
	__u16 state;  /* enum ft_state */
	__u32 status; /* enum ft_status */
	__u32 cpu;
	__u64 ktime; /* CLOCK_MONOTONIC, ns */
	__u32 tid;
	__u32 tgid;
	__u64 start_boottime; /* of the thread, CLOCK_BOOTTIME, ns */
	__u64 process_start_boottime;
	__u64 exec_vm; /* mm->exec_vm: pages of executable mappings */
	__u64 cgroup;  /* id in the hierarchy that was asked for */
	__u64 nvcsw;
	__u64 nivcsw;
	__u64 run_ns;     /* se.sum_exec_runtime */
	__u64 wait_ns;    /* sched_info.run_delay; 0 where the kernel has none */
	__u64 blocked_ns; /* in uninterruptible sleep, while scheduler statistics are on */
	__u32 self_exec_id;
	__u32 uid; /* effective user, initial namespace */
	__u32 image; /* hash of the exec that made the address space, the same in its forks; 0: no address space */
	__u32 former_tid; /* exec: tid of the thread that called it; else tid of the task */
	__u32 parent; /* fork, and the first sight of a leader by a pass: tgid of the parent; else 0 */
	__u32 unused;
	char comm[FT_COMM];         /* of the thread */
	char process_comm[FT_COMM]; /* of the thread group's leader */
};

/* follows the head of a record with FT_HAS_STACK; behind it come kernel stack, user stack, chunks, piece */
struct ft_stack {
	__u64 regs[FT_REGS];
	__u64 mapping_start; /* of the mapping that holds sp */
	__u64 mapping_end;
	__u64 user_address;  /* of the first byte of the user stack copy (sp) */
	__u64 piece_address; /* of the first byte of the second piece, 0 if none */
	__u32 kernel_bytes;  /* 8 per frame, leaf first */
	__u32 user_bytes;
	__u32 piece_bytes;
	__u32 holder_tid; /* FT_MM_BUSY: the task that holds mmap_lock for writing, 0 if it is not known (yet) */
	__u64 switches_after; /* nvcsw + nivcsw after the copy */
	char holder_comm[FT_COMM];
	__u32 chunk_bytes; /* further pieces of the same moment, each a struct ft_chunk and its bytes */
	__u32 chunks;      /* how many */
};

/* who woke a task */
struct ft_waker {
	__u64 time; /* CLOCK_MONOTONIC, ns; 0: nobody did */
	__u32 tid;  /* 0: an interrupt did */
	__u32 unused;
	char comm[FT_COMM];
};

/* follows the head of an event, or of a waker, before struct ft_stack */
struct ft_event {
	__u32 source;
	__u32 lock; /* of a wait for a lock of the kernel: enum ft_lock; else 0 */
	__u64 weight;
	__u64 rate; /* the stack was copied with probability 1 - exp(-weight / rate); 0: with certainty */
	__u64 function; /* the function that returned to the top of the stack; 0: none did */
	__u64 cut; /* the stack pointer that a jump leads to, or FT_CUT_UNKNOWN; 0: it is no jump */
	__u64 wait; /* number of the wait that ended, by which waker and waiter are joined; 0: none did */
	struct ft_waker wakers[FT_WAKERS]; /* who woke the waker meanwhile, who woke that one … */
};

/* ft_event.cut of a jump by a buffer that was filled before anybody looked; no stack is there */
#define FT_CUT_UNKNOWN 1

/* bits of ft_event.lock: the kernel's own flags of lock:contention_begin, and one of ours */
enum ft_lock {
	FT_LOCK_SPINS = 1,
	FT_LOCK_READ = 2,
	FT_LOCK_WRITE = 4,
	FT_LOCK_RT = 8,
	FT_LOCK_PERCPU = 16,
	FT_LOCK_MUTEX = 32,
	FT_LOCK_WAIT = 1 << 30, /* it is a wait for a lock */
};

/* what a hit of a source weighs */
enum ft_weight {
	FT_WEIGHT_UNIT = 0,     /* the same for each hit */
	FT_WEIGHT_FIELD = 1,    /* a field of the tracepoint */
	FT_WEIGHT_ARGUMENT = 2, /* an argument of the function, or of the USDT probe */
	FT_WEIGHT_RETURNED = 3, /* the value that the function returned */
	FT_WEIGHT_DURATION = 4, /* the ns from the entry of the function to its return */
};

/* set by the reader at any time */
struct ft_event_control {
	__u64 rate; /* R: see ft_event.rate */
	__u64 most; /* stacks that a CPU copies in 10 ms, above which it doubles its own R; 0: any number */
	__u32 generation; /* a CPU forgets its own R when this changes */
	__u32 unused;
};

/*
 * Hits of one source on one CPU, in exact numbers. Each hit is in one of `limited`, `missed` and `taken`; `lost` is part of `taken`.
 * A weight below 0 counts as 0, and 2^62 is the largest.
 */
struct ft_event_counts {
	__u64 hits, weight;
	__u64 limited; /* no stack was due */
	__u64 missed; /* a stack was due, but other copies that are not finished had all slots of this CPU */
	__u64 taken; /* the stack was copied */
	__u64 lost;  /* … but found no room in the ring */
	__u64 idle;  /* not among the hits: interrupts of the idle CPU */
	__u64 runs;  /* hits of all tasks, and of the idle CPU; only of the kernel's counters */
	__u64 bytes; /* of user stacks in the ring */
	__s64 left;  /* the weight that passes until a stack is due, drawn by the R `drawn` */
	__u64 drawn;
	__u64 rate; /* this CPU's own R, in force if it is above that of the reader */
	__u64 window,
		in_window; /* since when, and how many, stacks are counted against ft_event_control.most */
	__u64 generation;
	__u64 context;             /* for the moment of one hit */
	__u64 weights[FT_WEIGHTS]; /* hits by the bits that their weight has */
};

/* One comparison of a filter of a tracepoint's fields. Then comes the comparison with the number `yes` or `no`. */
struct ft_predicate {
	__u16 offset;
	__u8 bytes; /* 1, 2, 4 or 8 */
	__u8 kind;  /* enum ft_predicate_kind */
	__u8 how;   /* enum ft_comparison */
	__u8 yes, no;
	__u8 unused;
	__u64 value;
	__u8 text[FT_TEXT]; /* padded with NULs */
};
#define FT_ACCEPT 254
#define FT_REJECT 255

enum ft_predicate_kind {
	FT_FIELD_UNSIGNED = 0,
	FT_FIELD_SIGNED = 1,
	FT_FIELD_TEXT = 2,    /* at the offset */
	FT_FIELD_DYNAMIC = 3, /* a text; its place in the record is told at the offset */
};

enum ft_comparison {
	FT_EQUAL = 0,
	FT_UNEQUAL = 1,
	FT_LESS = 2,
	FT_AT_MOST = 3,
	FT_MORE = 4,
	FT_AT_LEAST = 5,
	FT_BITS = 6, /* any bit of the value is set */
};

/* a piece of user memory; its bytes follow, a multiple of 8 */
struct ft_chunk {
	__u64 address;
	__u64 bytes;
};

/*
 * How an interpreter keeps the frames of one thread outside of the stack: as nodes of a list or of an array, a *chain*, each of which
 * leads to the object that it runs. The reader tells it of each thread; all places are offsets, and multiples of 8 but for those in
 * `thread`.
 */
struct ft_chain {
	__u64 thread; /* address of what the interpreter knows of the thread (see FT_CHAIN_OF_IMAGE); there are … */
	__u64 lock; /* address of two words that a pass copies too: who holds the interpreter's lock, and whether it is held; 0: none */
	__u16 identity; /* … a word that is copied as it is … */
	__u16 first; /* … and a pointer to the first node, or, without FT_CHAIN_DIRECT, to … */
	__u16 through;                   /* … what has the pointer to the first node here */
	__u16 next;                      /* in a node: the pointer to the next one */
	__u16 object;                    /* … the pointer to the object */
	__u16 tags;                      /* … its bits that are no part of the address */
	__u16 flags;                     /* … a word that is copied as it is */
	__u16 place;                     /* … another one: where the object's code runs */
	__u16 names[2];                  /* in an object: words that are copied as they are */
	__u16 node_from, node_bytes;     /* what is read of a node: all of these words */
	__u16 object_from, object_bytes; /* … of an object */
	/*
	 * Not 0: the nodes are an array of Ruby's, of so many bytes each, and `next` is nothing. The memory that ends with the array is told
	 * where `first` points to: its address, and its size in words.
	 */
	__u16 stride;
	/*
	 * Of such an array: in a node the pointer to its environment, of which the first word stands for `flags`, and which leads to what
	 * has the class of a method. That word is the second one of `names`; without an object it stands for the object.
	 */
	__u16 environment;
};
#define FT_CHAIN_DIRECT 0xffff /* ft_chain.through: `first` points to the first node */
#define FT_CHAIN_WINDOW 128    /* most of node_bytes and object_bytes */

/* whose chain it is */
struct ft_chain_key {
	__u32 tid;   /* as ft_head.tid, or FT_CHAIN_OF_IMAGE */
	__u32 image; /* as ft_head.image */
};

/*
 * ft_chain_key.tid: the chains of all threads without one of their own. ft_chain.thread is an offset then, from the thread pointer to a word
 * that has the address.
 */
#define FT_CHAIN_OF_IMAGE 0

/* address of the chunk that has a chain, at which no memory can be: struct ft_chain_head, and nodes, the first one first */
#define FT_CHAIN_ADDRESS 1
struct ft_chain_head {
	__u64 thread; /* address of what the interpreter knows of the thread; with FT_CHAIN_OWN if the thread itself told that */
	__u64 identity; /* the word that is there */
	__u64 first;    /* the pointer that is there */
	__u64 rest;     /* the node behind the last one; 0: there is none */
	__u64 lock[2];  /* the words at ft_chain.lock; 0 where nothing is read */
};
#define FT_CHAIN_OWN 1
struct ft_chain_node {
	__u64 address;
	__u64 object;
	__u64 flags;
	__u64 place;
	__u64 names[2]; /* 0 where nothing can be read */
};

/* How the code from `from` to `to` of a page leads to its caller: the end of its frame (DWARF's CFA), and the caller's rbp. */
struct ft_step {
	__u16 from, to; /* offsets in the page; equal: no step */
	__u16 flags;    /* enum ft_step_flags */
	__s16 bp;       /* the caller's rbp is saved this far from the CFA, or from rbp */
	__s32 cfa;      /* the CFA is this far from rsp, or from rbp … */
	__s32 add; /* … or, with FT_STEP_DEREF, this far from the address that is read there */
};

enum ft_step_flags {
	FT_STEP_ROOT = 1 << 0,     /* nothing called the code */
	FT_STEP_BP = 1 << 1,       /* the CFA is relative to rbp, else to rsp */
	FT_STEP_DEREF = 1 << 2,    /* see ft_step.add */
	FT_STEP_SAVED = 1 << 3,    /* rbp is saved below the CFA */
	FT_STEP_SAVED_AT = 1 << 4, /* rbp is saved where rbp leads to */
};

/* the known steps of a page of code */
struct ft_code_page {
	__u64 page;  /* address / 4096 */
	__u32 image; /* whose page, as ft_head.image */
	__u32 unused;
};
struct ft_steps {
	struct ft_step of[FT_PAGE_STEPS];
};

/* stays of one CPU in one of its idle states */
struct ft_idle_state {
	__u64 target_ns; /* set by the reader: target residency */
	__u64 deeper_target_ns; /* set by the reader: target residency of the next deeper usable state, 0 if none */
	__u64 residency_ns;
	__u64 entries;
	__u64 too_short; /* stays below the target residency */
	__u64 too_long;  /* stays in which a deeper state would have paid off */
};

/* idle time of one CPU, in memory that the reader maps: consistent if `sequence` is even and the same before and after reading */
struct ft_idle {
	__u32 sequence;
	__u32 state; /* of the open stay */
	__u64 since; /* CLOCK_MONOTONIC, ns: start of the open stay; 0 when not idle */
	__u64 events;
	__u64 idle_ns; /* closed stays */
	__u64 wakeups; /* exits */
	struct ft_idle_state states[FT_IDLE_STATES];
};

/* frequency of one CPU over time, read like struct ft_idle */
struct ft_frequency {
	__u32 sequence;
	__u32 khz;    /* now; set by the reader at first */
	__u64 since;  /* CLOCK_MONOTONIC, ns: when this frequency began */
	__u64 cycles; /* cycles that passed until then */
	__u64 events; /* changes of the frequency that the tracepoint told of */
};

_Static_assert(sizeof(struct ft_head) == 160, "ft_head has padding or moved");
_Static_assert(sizeof(struct ft_stack) == FT_REGS * 8 + 4 * 8 + 4 * 4 + 8 + FT_COMM + 2 * 4,
	       "ft_stack has padding or moved");
_Static_assert(sizeof(struct ft_waker) == 16 + FT_COMM, "ft_waker has padding or moved");
_Static_assert(sizeof(struct ft_event) == 48 + FT_WAKERS * sizeof(struct ft_waker),
	       "ft_event has padding or moved");
_Static_assert(sizeof(struct ft_event_counts) == (16 + FT_WEIGHTS) * 8,
	       "ft_event_counts has padding or moved");
_Static_assert(sizeof(struct ft_predicate) == 16 + FT_TEXT, "ft_predicate has padding or moved");
_Static_assert(sizeof(struct ft_chain) == 48, "ft_chain has padding or moved");
_Static_assert(sizeof(struct ft_chain_head) == 48, "ft_chain_head has padding or moved");
_Static_assert(sizeof(struct ft_chain_node) == 48, "ft_chain_node has padding or moved");
_Static_assert(sizeof(struct ft_step) == 16, "ft_step has padding or moved");
_Static_assert(sizeof(struct ft_idle) == 40 + FT_IDLE_STATES * 48, "ft_idle has padding or moved");
_Static_assert(sizeof(struct ft_frequency) == 32, "ft_frequency has padding or moved");

#endif
