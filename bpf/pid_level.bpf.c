/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far the pid namespace of whoever runs this is below the initial one: no file says so in there.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("raw_tp")
int find_level(void *ctx __attribute__((unused)))
{
	return bpf_get_current_task_btf()->thread_pid->level;
}
