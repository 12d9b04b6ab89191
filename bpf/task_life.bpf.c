/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Beginnings of processes, ends of tasks, with their final sums, and changes of process images.
 *
 * A task that ends is on a CPU, and its run time is up to a tick old: for a task that lived 2 ms that is all of its time. Its last sums
 * are those that it has when nothing refers to it any more.
 */
#include "target.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define RING_BYTES (1024 * 1024)

__u64 dropped; /* records that found no room in the ring */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

/*
 * Numbers that a task had when it ended, by the task's address: once a task is reaped, the kernel knows only its number in the
 * initial pid namespace. Used only where the reader is in another namespace.
 */
struct numbers {
	__u32 pid; /* in the initial namespace: a leader's number changes when another thread execs */
	__u32 tid, tgid;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct numbers);
} ended SEC(".maps");

static __always_inline struct ft_head *reserve(void)
{
	struct ft_head *head = bpf_ringbuf_reserve(&ring, sizeof(*head), 0);

	if (!head)
		__sync_fetch_and_add(&dropped, 1);
	return head;
}

/* An exec wakes the reader, which is to know of the exec before a pass or a sample sees the new image. */
static __always_inline void submit(struct ft_head *head)
{
	bool wake = head->kind == FT_KIND_EXEC ||
		    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 4;

	bpf_ringbuf_submit(head, wake ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

/* Only this says who started a process: once the parent has ended, another process is in its place. */
SEC("tp_btf/sched_process_fork")
int task_fork(__u64 *ctx)
{
	struct task_struct *t = (struct task_struct *)ctx[1];
	struct ft_head *head;

	if (t->pid != t->tgid || !is_target(t))
		return 0;
	head = reserve();
	if (!head)
		return 0;
	__builtin_memset(head, 0, sizeof(*head));
	head->size = sizeof(*head);
	head->kind = FT_KIND_FORK;
	head->ktime = bpf_ktime_get_ns();
	head->tid = task_number(t);
	head->tgid = head->tid;
	head->start_boottime = t->start_boottime;
	head->process_start_boottime = t->start_boottime;
	head->parent = parent_number(t);
	submit(head);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int task_exit(__u64 *ctx)
{
	struct task_struct *t = (struct task_struct *)ctx[0];
	struct pointers of = pointers_of(t);
	struct ft_head *head;

	if (!is_target(t))
		return 0;
	if (pid_level) {
		struct numbers numbers = { t->pid, task_number(t), process_number(t) };
		__u64 address = (__u64)t;

		bpf_map_update_elem(&ended, &address, &numbers, BPF_ANY);
	}
	head = reserve();
	if (!head)
		return 0;
	fill_head(head, t, &of, FT_KIND_EXIT, FT_STATE_ZOMBIE);
	/* newer kernels pass this as an argument; the count of live threads says it on all kernels */
	if (!t->signal->live.counter)
		head->status |= FT_GROUP_DEAD;
	submit(head);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int task_exec(__u64 *ctx)
{
	struct task_struct *t = (struct task_struct *)ctx[0];
	struct pointers of = pointers_of(t);
	struct ft_head *head = is_target(t) ? reserve() : NULL;

	if (!head)
		return 0;
	fill_head(head, t, &of, FT_KIND_EXEC, FT_STATE_RUN);
	/* the former number in another namespace is gone with the thread that had it */
	if (!pid_level)
		head->former_tid = ctx[1];
	else if (ctx[1] != (__u64)t->pid)
		head->former_tid = 0;
	submit(head);
	return 0;
}

SEC("tp_btf/sched_process_free")
int task_free(__u64 *ctx)
{
	struct task_struct *t = (struct task_struct *)ctx[0];
	struct numbers numbers = { t->pid, t->pid, t->tgid };
	struct ft_head *head;

	if (pid_level) {
		__u64 address = (__u64)t;
		struct numbers *known = bpf_map_lookup_elem(&ended, &address);

		if (!known || known->pid != numbers.pid)
			return 0;
		numbers = *known;
		bpf_map_delete_elem(&ended, &address);
	} else if (!is_target(t)) {
		return 0;
	}
	head = reserve();
	if (!head)
		return 0;
	/* nothing that the task pointed to, other tasks included, need be there any more */
	__builtin_memset(head, 0, sizeof(*head));
	head->size = sizeof(*head);
	head->kind = FT_KIND_FREE;
	head->state = FT_STATE_ZOMBIE;
	head->ktime = bpf_ktime_get_ns();
	head->tid = numbers.tid;
	head->tgid = numbers.tgid;
	head->start_boottime = t->start_boottime;
	head->nvcsw = t->nvcsw;
	head->nivcsw = t->nivcsw;
	head->run_ns = t->se.sum_exec_runtime;
	head->wait_ns = wait_ns(t);
	head->blocked_ns = blocked_ns(t);
	head->self_exec_id = t->self_exec_id;
	submit(head);
	return 0;
}
