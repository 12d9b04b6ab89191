/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long each CPU was idle, and in which of its idle states. The tracepoint
 * fires without a cpuidle driver too.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define LEFT_IDLE ((__u32)-1)

__u64 started; /* CLOCK_MONOTONIC, ns: when counting began */
struct ft_idle cpus[FT_MAX_CPUS];

static __always_inline void close_stay(struct ft_idle *cpu, __u64 now)
{
	__u64 stay = now - cpu->since;
	__u32 state = cpu->state;

	cpu->idle_ns += stay;
	cpu->since = 0;
	if (state >= FT_IDLE_STATES)
		return;

	struct ft_idle_state *in = &cpu->states[state];

	in->residency_ns += stay;
	in->entries++;
	if (stay < in->target_ns)
		in->too_short++;
	/* target residency of the next deeper state that may be used; 0: there is none */
	if (in->deeper_target_ns && stay >= in->deeper_target_ns)
		in->too_long++;
}

SEC("tp_btf/cpu_idle")
int cpu_idle(__u64 *ctx)
{
	__u32 state = ctx[0], number = ctx[1];
	__u64 now = bpf_ktime_get_ns();

	if (number >= FT_MAX_CPUS)
		return 0;

	struct ft_idle *cpu = &cpus[number];

	/* odd while the numbers change; this CPU is the only writer */
	*(volatile __u32 *)&cpu->sequence = cpu->sequence + 1;
	asm volatile("" ::: "memory");
	if (cpu->since) {
		close_stay(cpu, now);
	} else if (!cpu->events && state == LEFT_IDLE) {
		/* the CPU was idle since counting began, in an unknown state */
		cpu->idle_ns += now - started;
	}
	if (state == LEFT_IDLE) {
		cpu->wakeups++;
	} else {
		cpu->since = now;
		cpu->state = state;
	}
	cpu->events++;
	asm volatile("" ::: "memory");
	*(volatile __u32 *)&cpu->sequence = cpu->sequence + 1;
	return 0;
}
