/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stretches of time between two tracepoints: waits for a lock of the kernel, and times in which a CPU takes no interrupts or does not
 * leave its task. A hit is the end of a stretch, and weighs its ns; the stack is that of the end.
 *
 * The waits are in a map whose memory is there from the start: a lock may be one of those that the kernel's allocator takes.
 */
#ifndef FLAMETOP_STRETCHES_H
#define FLAMETOP_STRETCHES_H

/* One who waits for a lock. In an interrupt a task may wait once more, and then for another lock. */
struct contender {
	__u64 lock;
	__u64 task; /* a number that no other task has now; each idle CPU has its own */
};

/* a wait for a lock */
struct contention {
	__u64 start; /* CLOCK_MONOTONIC, ns */
	__u32 lock;  /* enum ft_lock */
	__u32 spins; /* it may go on asleep, which is told as another beginning */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct contender);
	__type(value, struct contention);
} contentions SEC(".maps");

/* record of lock:contention_begin, and the front of lock:contention_end */
struct contention_record {
	__u64 common;
	__u64 lock;
	__u32 flags;
};

SEC("tracepoint")
int begin_contention(struct contention_record *record)
{
	struct contender who = { .lock = record->lock };
	struct contention *known, now = {};

	who.task = (__u64)bpf_get_current_task();
	now.lock = record->flags | FT_LOCK_WAIT;
	now.spins = (record->flags & FT_LOCK_SPINS) && (record->flags & FT_LOCK_MUTEX);
	known = bpf_map_lookup_elem(&contentions, &who);
	/* a mutex that was waited for awake is waited for asleep */
	if (known && known->spins)
		return 0;
	now.start = bpf_ktime_get_ns();
	bpf_map_update_elem(&contentions, &who, &now, BPF_ANY);
	return 0;
}

SEC("tracepoint")
int end_contention(struct contention_record *record)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct ft_event_counts *c = own_counts();
	struct contender who = { .lock = record->lock };
	struct contention *wait;
	struct subject of = {};
	__u64 start;

	who.task = (__u64)bpf_get_current_task();
	wait = bpf_map_lookup_elem(&contentions, &who);
	if (!wait)
		return 0;
	start = wait->start;
	of.lock = wait->lock;
	bpf_map_delete_elem(&contentions, &who);
	if (c && counts_for(t, c))
		hit_of(record, t, c, bpf_ktime_get_ns() - start, &of, 0, 0);
	return 0;
}

/* what a CPU does not do */
enum {
	NO_INTERRUPTS = 1,
	NO_PREEMPTION = 2
};

struct stretch {
	__u64 start; /* CLOCK_MONOTONIC, ns */
	__u64 without;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stretch);
} stretches SEC(".maps");

static __always_inline int begin_stretch(__u64 what)
{
	__u32 zero = 0;
	struct stretch *stretch = bpf_map_lookup_elem(&stretches, &zero);

	if (!stretch)
		return 0;
	if (!stretch->without)
		stretch->start = bpf_ktime_get_ns();
	stretch->without |= what;
	return 0;
}

static __always_inline int end_stretch(void *ctx, __u64 what)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct ft_event_counts *c = own_counts();
	__u32 zero = 0;
	struct stretch *stretch = bpf_map_lookup_elem(&stretches, &zero);

	/* one that began before the source was attached */
	if (!stretch || !(stretch->without & what))
		return 0;
	stretch->without &= ~what;
	if (!stretch->without && c && counts_for(t, c))
		hit(ctx, t, c, bpf_ktime_get_ns() - stretch->start, 0, 0, 0);
	return 0;
}

SEC("tracepoint")
int begin_irqs_off(void *ctx __attribute__((unused)))
{
	return begin_stretch(NO_INTERRUPTS);
}

SEC("tracepoint")
int end_irqs_off(void *ctx)
{
	return end_stretch(ctx, NO_INTERRUPTS);
}

SEC("tracepoint")
int begin_preemption_off(void *ctx __attribute__((unused)))
{
	return begin_stretch(NO_PREEMPTION);
}

SEC("tracepoint")
int end_preemption_off(void *ctx)
{
	return end_stretch(ctx, NO_PREEMPTION);
}

#endif
