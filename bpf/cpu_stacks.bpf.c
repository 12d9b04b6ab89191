/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CPU clock: what runs on this CPU when its timer fires.
 */
#include "target.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PAGE         4096
#define KERNEL_BYTES (FT_KERNEL_FRAMES * sizeof(__u64))
/* frame pointers that are followed */
#define MOST_FRAMES 64
/* bytes below where another stack goes on: the frame that is left may begin there */
#define BELOW 1024

struct sample {
	struct ft_head head;
	struct ft_stack stack;
	/* kernel stack, user stack, piece; a page of slack lets the verifier see that the last one fits */
	__u8 memory[1024 + FT_CPU_STACK + PAGE];
	__u64 copied; /* while it is being filled */
};
_Static_assert(KERNEL_BYTES <= 1024, "the kernel stack has its place");

const volatile __u32 ring_bytes = 0; /* size of the ring, set before load */
__u64 most_stack; /* what may be copied of each at this rate, set before the clock ticks */
__u64 taken;      /* samples of the target */
__u64 dropped;    /* … that the ring had no place for */
__u64 copied;     /* bytes of user stacks in the ring */
__u64 own_wakeups[FT_MAX_CPUS]; /* timers that found the CPU idle */
__u64 activity[FT_MAX_CPUS];    /* timers that found that something had run since the one before */
__u64 idle_switches[FT_MAX_CPUS]; /* how often the CPU had left its idle task by then */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} ring SEC(".maps");

/* by CPU; not a per-CPU array, whose values have 32 KiB at most */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* CPUs that there may be, set before load */
	__type(key, __u32);
	__type(value, struct sample);
} scratch SEC(".maps");

/* what the walker asks for where FT_CPU_FIRST bytes do not lead to the root */
struct reach {
	__u64 near; /* where a former walk went on that had left the stack, or had met a frame larger than all this */
	__u32 stack;  /* bytes of the stack */
	__u32 piece;  /* bytes from there on */
	__u64 follow; /* frame pointers may lead to the other stack */
};

/* by tid, and by tgid << 32 for threads that have none */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct reach);
} reaches SEC(".maps");

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

static __always_inline __u64 wakeup(struct ft_head *head)
{
	struct image image = {
		.start_boottime = head->process_start_boottime,
		.tgid = head->tgid,
		.exec_id = head->self_exec_id,
	};
	__u8 one = 1;

	if (!(head->status & FT_KTHREAD) && !bpf_map_lookup_elem(&images, &image)) {
		bpf_map_update_elem(&images, &image, &one, BPF_ANY);
		return BPF_RB_FORCE_WAKEUP;
	}
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > ring_bytes / 4)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

/*
 * Copies user memory behind what the sample has already, `used` bytes: at most `most`, up to the first page that is
 * missing. Gives how many, a multiple of 8 so that records stay aligned.
 *
 * Not static: the verifier looks at it once, rather than at all that follows for each way out of the loop.
 */
__attribute__((noinline)) __u64 copy(struct sample *sample, __u64 used, __u64 address, __u64 most)
{
	if (!sample)
		return 0;
	/* in memory, of which the verifier remembers nothing: else it follows each sum of pages */
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
 * pointer leads anywhere, so what they lead to is believed if it is as near as 4 GiB to what the walker found before.
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

SEC("perf_event")
int cpu_stacks(struct bpf_perf_event_data *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id(), tid = t->pid;

	if (cpu < FT_MAX_CPUS) {
		__u64 switches = tid ? 0 : t->nvcsw + t->nivcsw;

		if (tid || switches != idle_switches[cpu])
			activity[cpu]++;
		if (!tid) {
			idle_switches[cpu] = switches;
			own_wakeups[cpu]++;
		}
	}
	if (!tid)
		return 0;
	if (!is_target(t))
		return 0;

	struct sample *sample = bpf_map_lookup_elem(&scratch, &cpu);

	if (!sample)
		return 0;
	__sync_fetch_and_add(&taken, 1);

	bool user_mode = (READ_REG(ctx->regs.cs) & 3) == 3;
	__u64 kernel_bytes = 0, user_bytes = 0, piece_bytes = 0;

	fill_head(&sample->head, t, FT_KIND_CPU, FT_STATE_RUN);
	sample->head.cpu = cpu;
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

	if (!(sample->head.status & FT_KTHREAD) && t->mm) {
		struct mapping mapping = {};
		__u64 whose = tid, most = FT_CPU_FIRST;
		struct reach *reach = bpf_map_lookup_elem(&reaches, &whose);
		__u64 sp, cs;

		if (!reach) {
			whose = (__u64)t->tgid << 32;
			reach = bpf_map_lookup_elem(&reaches, &whose);
		}
		if (reach)
			most = reach->stack;
		if (most > most_stack)
			most = most_stack;

		if (user_mode) {
			COPY_REGS(sample->stack.regs, &ctx->regs);
			cs = READ_REG(ctx->regs.cs);
		} else {
			struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);

			COPY_REGS(sample->stack.regs, regs);
			cs = regs->cs;
		}
		if ((cs & 0xffff) == USER32_CS)
			sample->head.status |= FT_COMPAT;
		sp = sample->stack.regs[REG_SP];
		sample->stack.user_address = sp;
		/* where it cannot be had (mmap_lock is held), the copy ends at the first page that is missing */
		if (!bpf_find_vma(t, sp, take_mapping, &mapping, 0)) {
			sample->stack.mapping_start = mapping.start;
			sample->stack.mapping_end = mapping.end;
			if (mapping.end - sp > most)
				sample->head.status |= FT_CLAMPED;
			else
				most = mapping.end - sp;
		}
		user_bytes = copy(sample, kernel_bytes, sp, most);
		if (!user_bytes)
			sample->head.status |= FT_FAULTED;
		if (reach && reach->piece && user_bytes) {
			__u64 at = reach->near;

			if (reach->follow)
				at = other_stack(sample->stack.regs[REG_BP], sp, sp + user_bytes,
						 at);
			at = (at - BELOW) & ~7ULL;
			most = reach->piece;
			if (most > most_stack)
				most = most_stack;
			piece_bytes = copy(sample, kernel_bytes + user_bytes, at, most);
			if (!piece_bytes) {
				at = (at + PAGE) & ~(PAGE - 1ULL);
				piece_bytes = copy(sample, kernel_bytes + user_bytes, at, most);
			}
			sample->stack.piece_address = piece_bytes ? at : 0;
		}
	}

	sample->stack.kernel_bytes = kernel_bytes;
	sample->stack.user_bytes = user_bytes;
	sample->stack.piece_bytes = piece_bytes;
	sample->stack.switches_after = sample->head.nvcsw + sample->head.nivcsw;

	__u64 size = sizeof(sample->head) + sizeof(sample->stack) + kernel_bytes + user_bytes +
		     piece_bytes;

	sample->head.size = size;
	asm volatile("" : "+r"(size));
	if (size > sizeof(*sample))
		size = sizeof(*sample);
	if (bpf_ringbuf_output(&ring, sample, size, wakeup(&sample->head)))
		__sync_fetch_and_add(&dropped, 1);
	else
		__sync_fetch_and_add(&copied, user_bytes + piece_bytes);
	return 0;
}
