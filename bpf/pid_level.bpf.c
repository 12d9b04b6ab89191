/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The level of the caller's pid namespace below the initial one: no file in that namespace says so.
 */
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("raw_tp")
int find_level(void *ctx __attribute__((unused)))
{
	return bpf_get_current_task_btf()->thread_pid->level;
}
