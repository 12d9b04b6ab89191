/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The CPU clock: samples the task that runs on this CPU when its timer fires.
 */
#include "target.h"
#include "stack.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 taken;                    /* samples of the target */
__u64 dropped;                  /* … that found no room in the ring */
__u64 copied;                   /* bytes of user stacks in the ring */
__u64 own_wakeups[FT_MAX_CPUS]; /* fired timers that found the CPU idle */
__u64 ticks[FT_MAX_CPUS];       /* fired timers */
__u64 activity[FT_MAX_CPUS]; /* fired timers that found that a task had run since the one before */
__u64 idle_switches[FT_MAX_CPUS]; /* how often the CPU had left its idle task until then */

SEC("perf_event")
int cpu_stacks(struct bpf_perf_event_data *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	bool idle = !t->pid;

	/*
	 * Of 64 bits: else the bound is checked of a copy, which tells older verifiers nothing of the index. A number of its own: else
	 * the verifier follows two programs, for CPUs below and above the bound.
	 */
	__u64 index = bpf_get_smp_processor_id();

	asm volatile("" : "+r"(index));
	if (index < FT_MAX_CPUS) {
		__u64 switches = idle ? t->nvcsw + t->nivcsw : 0;

		ticks[index]++;
		if (!idle || switches != idle_switches[index])
			activity[index]++;
		if (idle) {
			idle_switches[index] = switches;
			own_wakeups[index]++;
		}
	}
	if (idle || !is_target(t))
		return 0;

	struct sample *sample = bpf_map_lookup_elem(&scratch, &cpu);

	if (!sample)
		return 0;
	__sync_fetch_and_add(&taken, 1);

	bool user_mode = IS_USER(READ_REG(MODE_OF(&ctx->regs))), teaches = 0;
	__u64 size;

	struct pointers of = pointers_of(t);

	fill_head(&sample->head, t, &of, FT_KIND_CPU, FT_STATE_RUN);
	sample->head.cpu = cpu;
	size = copy_stack(ctx, t, sample, &cpu, user_mode, &teaches);
	if (bpf_ringbuf_output(&ring, sample, size, wakeup(&sample->head, teaches)))
		__sync_fetch_and_add(&dropped, 1);
	else
		__sync_fetch_and_add(&copied, sample->stack.user_bytes + sample->stack.chunk_bytes +
						      sample->stack.piece_bytes);
	return 0;
}
