/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who woke whom. A hit is the end of a wait: the moment at which a task that was off the CPU, and not on a run queue, is woken. The wait
 * weighs its ns. A wait begins when the task leaves its CPU; a task that is only preempted stays queued, and does not wait.
 *
 * The stacks of a due hit come in two records. At the wake-up, the waker runs: its stack is copied. The waiter's memory can be read when
 * the waiter is back on a CPU, before it runs on: still in the kernel's scheduler, with the stack that it waited with.
 *
 * What is known of the waits of a task is kept with the task. That memory is made where the kernel holds no lock: for tasks that exist by
 * a walk over all tasks when the source is attached, for later ones when they are forked.
 */
#ifndef FLAMETOP_WAKE_H
#define FLAMETOP_WAKE_H

/* bytes of a task's kernel stack */
#define KERNEL_STACK 16384

struct wait {
	__u64 since; /* CLOCK_MONOTONIC, ns; 0: the task does not wait */
	/* who woke it last, who woke that one during the same wait … */
	struct ft_waker wakers[FT_WAKERS + 1];
	/* of the wait whose stack is due when the task is back: see struct ft_event */
	__u64 due, weight, rate;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wait);
} waits SEC(".maps");

__u64 last_due; /* number of the last wait whose stack was due */

/*
 * Whether the program runs in an interrupt rather than in a call of the task `t`. The kernel's own count of interrupts is in no place that
 * a program finds on all kernels. But interrupts have stacks of their own, unless they come in user mode: then the task has entered the
 * kernel without a system call. Whoever knows the functions of the stack knows better: faults are no interrupts, and softirqs may be of
 * the task's own call.
 */
static __always_inline bool is_interrupt(void *ctx, struct task_struct *t,
					 struct ft_event_counts *c)
{
	struct pt_regs *regs;

	if (!t->pid)
		return 1;
	/* the arguments of a tracepoint are on the stack that is in use */
	*(volatile __u64 *)&c->context = (__u64)ctx;
	if (*(volatile __u64 *)&c->context - (__u64)t->stack >= KERNEL_STACK)
		return 1;
	if (t->flags & PF_NO_USER_HALF)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(t);
	return IS_WITHOUT_CALL(regs);
}

/* Whether the task waits for work alone: that is no time of anybody. */
static __always_inline bool is_idle_thread(struct task_struct *t)
{
	return (t->flags & PF_KTHREAD) && (t->__state & TASK_IDLE) == TASK_IDLE;
}

/* Once for each task when the source is attached. A wait that goes on is counted from then on. */
SEC("iter/task")
int know_task(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	struct wait *wait;

	if (!t)
		return 0;
	wait = bpf_task_storage_get(&waits, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (wait && !wait->since && !t->on_cpu && !is_queued(t) && !is_idle_thread(t))
		wait->since = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_process_fork")
int know_child(__u64 *ctx)
{
	struct task_struct *child = (struct task_struct *)ctx[1];

	bpf_task_storage_get(&waits, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

SEC("tp_btf/sched_switch")
int begin_wait(__u64 *ctx)
{
	struct task_struct *t = (struct task_struct *)ctx[1];
	struct wait *wait;

	/* preempted, or woken on its way to sleep */
	if (is_queued(t))
		return 0;
	wait = bpf_task_storage_get(&waits, t, 0, 0);
	if (wait)
		wait->since = is_idle_thread(t) ? 0 : bpf_ktime_get_ns();
	return 0;
}

/* Notes who ended a wait: `waker` is that task's own, NULL in an interrupt. */
static __always_inline void note_wakers(struct wait *wait, struct task_struct *t,
					struct wait *waker, __u64 since, __u64 now)
{
	wait->wakers[0].time = now;
	wait->wakers[0].tid = waker ? t->pid : 0;
	__builtin_memcpy(wait->wakers[0].comm, t->comm, FT_COMM);
	for (int k = 0; k < FT_WAKERS; k++) {
		/* whoever was woken before the wait began was not waited for */
		if (!waker || waker->wakers[k].time <= since) {
			wait->wakers[k + 1].time = 0;
			return;
		}
		wait->wakers[k + 1] = waker->wakers[k];
	}
}

SEC("tp_btf/sched_waking")
int end_wait(__u64 *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct task_struct *waiter = (struct task_struct *)ctx[0];
	struct ft_event_counts *c = own_counts();
	__u32 slot, status = 0;
	struct wait *wait, *waker = NULL;
	__u64 now, since, weight, rate, size;
	struct sample *sample;
	bool teaches = 0;

	/* woken on its way to sleep, before it left its CPU */
	if (!c || is_queued(waiter))
		return 0;
	wait = bpf_task_storage_get(&waits, waiter, 0, 0);
	if (!wait || !wait->since)
		return 0;
	since = wait->since;
	wait->since = 0;
	now = bpf_ktime_get_ns();
	if (is_interrupt(ctx, t, c))
		status |= FT_INTERRUPT;
	else
		waker = bpf_task_storage_get(&waits, t, 0, 0);
	if (!is_target(t))
		status |= FT_STRANGER;
	note_wakers(wait, t, waker, since, now);
	if (!is_target(waiter))
		return 0;

	wait->due = 0;
	if (!count_hit(c, now - since, &weight, &rate, 0))
		return 0;
	sample = claim(&slot);
	if (!sample) {
		c->missed++;
		return 0;
	}
	c->taken++;
	begin_record(sample, t, FT_KIND_WAKER, weight, rate);
	sample->head.status |= status;
	sample->event.wait = __sync_fetch_and_add(&last_due, 1) + 1;
	wait->weight = weight;
	wait->rate = rate;
	wait->due = sample->event.wait;
	size = copy_stack(ctx, t, sample, &slot, 0, &teaches);
	/* the waiter cannot run before this ends */
	if (!end_record(c, sample, size, teaches, 0))
		wait->due = 0;
	brake(c, rate, now);
	return 0;
}

/* The stack of a task that is back on a CPU, if it is due. */
static __always_inline int copy_waiter(void *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct wait *wait = bpf_task_storage_get(&waits, t, 0, 0);
	struct ft_event_counts *c = own_counts();
	struct sample *sample;
	bool teaches = 0;
	__u32 slot;
	__u64 size;

	if (!wait || !wait->due || !c)
		return 0;
	sample = claim(&slot);
	/* interrupts may come, and their wake-ups count, too */
	if (!sample) {
		ADD(c->lost, 1, 1);
		wait->due = 0;
		return 0;
	}
	begin_record(sample, t, FT_KIND_EVENT, wait->weight, wait->rate);
	sample->event.wait = wait->due;
	wait->due = 0;
	for (int k = 0; k < FT_WAKERS; k++) {
		if (!wait->wakers[k + 1].time)
			break;
		sample->event.wakers[k] = wait->wakers[k + 1];
	}
	size = copy_stack(ctx, t, sample, &slot, 0, &teaches);
	end_record(c, sample, size, teaches, 1);
	return 0;
}

/* since 6.15 (adcc3bfa8806): the scheduler returns to the task */
SEC("tp_btf/sched_exit_tp")
int see_waiter(__u64 *ctx)
{
	return copy_waiter(ctx);
}

/* before: finish_task_switch, the first function that a task runs when it is back */
SEC("kprobe")
int probe_waiter(struct user_regs *ctx)
{
	return copy_waiter(ctx);
}

#endif
