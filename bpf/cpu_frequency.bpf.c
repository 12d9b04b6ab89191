/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many cycles pass on each CPU: its frequency over time. The tracepoint
 * fires only with some cpufreq drivers; `events` says whether it did. The program
 * is for a raw tracepoint, so that it loads where the kernel has no cpufreq, and a test can run it.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct ft_frequency cpus[FT_MAX_CPUS];

SEC("raw_tp/cpu_frequency")
int cpu_frequency(__u64 *ctx)
{
	__u32 khz = ctx[0], number = ctx[1];
	__u64 now = bpf_ktime_get_ns();

	if (number >= FT_MAX_CPUS)
		return 0;

	struct ft_frequency *cpu = &cpus[number];

	/* odd while the numbers change; cpufreq makes one change of a CPU's frequency at a time */
	*(volatile __u32 *)&cpu->sequence = cpu->sequence + 1;
	asm volatile("" ::: "memory");
	/* µs × kHz: 64 bits hold a month of one frequency */
	cpu->cycles += (now - cpu->since) / 1000 * cpu->khz / 1000;
	cpu->since = now;
	cpu->khz = khz;
	cpu->events++;
	asm volatile("" ::: "memory");
	*(volatile __u32 *)&cpu->sequence = cpu->sequence + 1;
	return 0;
}
