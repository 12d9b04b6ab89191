/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tasks that are sampled: the same in every object that looks at tasks.
 */
#ifndef FLAMETOP_TARGET_H
#define FLAMETOP_TARGET_H

#include "kernel.h"

enum {
	TARGET_ALL = 0,
	TARGET_PROCESSES = 1,
	TARGET_THREADS = 2,
	TARGET_CGROUP = 3
};
const volatile __u32 target_kind = TARGET_ALL;
const volatile __u64 target_cgroup; /* id in the default hierarchy */

/* Levels of groups: systemd and Kubernetes make six or so. Deeper groups are in no target. */
#define MOST_LEVELS 32

/* tgids or tids, by target_kind; here as everywhere, numbers are those of task_number() */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u8);
} targets SEC(".maps");

/* tgids of flametop itself */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u8);
} own SEC(".maps");

/* whether the task's group in the default hierarchy is the target, or below it */
static __always_inline bool is_below_target(struct task_struct *t)
{
	struct cgroup_subsys_state *group;

	if (!bpf_core_field_exists(t->cgroups))
		return 0;
	group = &t->cgroups->dfl_cgrp->self;
	for (int level = 0; level < MOST_LEVELS && group; level++) {
		if (group->cgroup->kn->id == target_cgroup)
			return 1;
		group = group->parent;
	}
	return 0;
}

static __always_inline bool is_target(struct task_struct *t)
{
	__u32 tid = task_number(t), tgid = process_number(t);

	/* tasks of other pid namespaces, and idle tasks, have no number */
	if (pid_level && !tid)
		return 0;
	if (target_kind == TARGET_PROCESSES && !bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	if (target_kind == TARGET_THREADS && !bpf_map_lookup_elem(&targets, &tid))
		return 0;
	if (target_kind == TARGET_CGROUP && !is_below_target(t))
		return 0;
	return !bpf_map_lookup_elem(&own, &tgid);
}

#endif
