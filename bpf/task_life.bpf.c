/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ends of tasks, with their final sums, and changes of process images.
 */
#include "target.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define RING_BYTES (1024 * 1024)

__u64 dropped; /* records that the ring had no place for */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

static __always_inline void put(struct task_struct *t, __u16 kind, __u16 state, __u32 status)
{
	struct ft_head *head;

	if (!is_target(t))
		return;
	head = bpf_ringbuf_reserve(&ring, sizeof(*head), 0);
	if (!head) {
		__sync_fetch_and_add(&dropped, 1);
		return;
	}
	fill_head(head, t, kind, state);
	head->status |= status;
	bpf_ringbuf_submit(head, bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > RING_BYTES / 4
					 ? BPF_RB_FORCE_WAKEUP
					 : BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_process_exit")
int task_exit(__u64 *ctx)
{
	struct task_struct *t = (struct task_struct *)ctx[0];

	/* newer kernels pass it as an argument; the count of live threads says it on all */
	put(t, FT_KIND_EXIT, FT_STATE_ZOMBIE, t->signal->live.counter ? 0 : FT_GROUP_DEAD);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int task_exec(__u64 *ctx)
{
	struct task_struct *t = (struct task_struct *)ctx[0];

	put(t, FT_KIND_EXEC, FT_STATE_RUN, 0);
	return 0;
}
