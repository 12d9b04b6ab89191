/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel as these programs see it: only the fields that they read, placed
 * by CO-RE at load, and every difference between kernels from 5.18 on.
 *
 * All reads are plain dereferences, which every lockdown mode allows.
 */
#ifndef FLAMETOP_KERNEL_H
#define FLAMETOP_KERNEL_H

typedef _Bool bool;
typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u64 __be64;
typedef __u16 __sum16;
typedef __u32 __wsum;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "flametop.h"
#include "registers.h"

/* From the kernel's user API; these numbers never change. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum {
	BPF_ANY = 0
};
enum {
	BPF_F_NO_PREALLOC = 1
};
enum {
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1
};
enum {
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2
};
enum {
	BPF_RB_AVAIL_DATA = 0
};
#define EBUSY 16

struct bpf_perf_event_data {
	struct user_regs regs;
	__u64 sample_period;
	__u64 addr;
};

/* Kernel-internal numbers, the same from 5.18 to 7.3. */
#define PF_EXITING   0x00000004
#define PF_KTHREAD   0x00200000
#define PF_IO_WORKER 0x00000010
/* since 6.4 (54e6842d0775); the bit was unused from 5.17 until then (67d6212afda2) */
#define PF_USER_WORKER  0x00004000
#define PF_NO_USER_HALF (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)

#define TASK_INTERRUPTIBLE     0x0001
#define TASK_UNINTERRUPTIBLE   0x0002
#define TASK_STOPPED_OR_TRACED 0x000c
#define TASK_PARKED            0x0040
#define TASK_WAKING            0x0200
#define TASK_NEW               0x0800
#define TASK_IDLE              0x0402 /* two bits: a plain mask would take D for idle */
/* asleep in a spinlock of a real-time kernel */
#define TASK_RTLOCK_WAIT 0x1000
/* since 6.1 (f5d39b020809) */
#define TASK_FROZEN         0x8000
#define EXIT_DEAD_OR_ZOMBIE 0x0030

#define VM_PFNMAP   0x00000400
#define VM_IO       0x00004000
#define VM_MIXEDMAP 0x10000000

/* From the kernel's user API. */
#define S_IFMT          0xf000
#define S_IFREG         0x8000
#define TMPFS_MAGIC     0x01021994
#define HUGETLBFS_MAGIC 0x958458f6

/* bits of rw_semaphore.owner beside the task */
#define RWSEM_READER_OWNED 1
#define RWSEM_OWNER_FLAGS  7

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	long counter;
} atomic_long_t;

struct rw_semaphore {
	atomic_long_t owner; /* not on real-time kernels */
};

struct super_block {
	unsigned long s_magic;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
};

/* the page of a process that functions return to while their return is probed */
struct xol_area {
	unsigned long vaddr;
};

/* only with CONFIG_UPROBES */
struct uprobes_state {
	struct xol_area *xol_area;
};

/* a call whose return is probed: the return address that the stack no longer has, and where it was */
struct return_instance {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances; /* innermost first */
};

struct mm_struct {
	void *pgd;
	unsigned long exec_vm;
	struct rw_semaphore mmap_lock;
	struct file *exe_file;
	unsigned long mmap_base, start_code, end_code, start_stack;
	struct uprobes_state uprobes_state;
};

struct vm_operations_struct;
struct userfaultfd_ctx;

struct vm_userfaultfd_ctx {
	struct userfaultfd_ctx *ctx; /* only with CONFIG_USERFAULTFD */
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	const struct vm_operations_struct *vm_ops;
	struct file *vm_file;
	struct vm_userfaultfd_ctx vm_userfaultfd_ctx;
};

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t euid;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* by enum cgroup_subsys_id */
	struct cgroup *dfl_cgrp;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
};

struct thread_info {
	unsigned int cpu; /* only on SMP kernels */
};

struct sched_entity {
	__u64 sum_exec_runtime;
	unsigned char sched_delayed; /* since 6.12 (152e11f6df29) */
};

/* only with CONFIG_SCHED_INFO */
struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_arrival; /* on its CPU */
	unsigned long long last_queued;  /* 0 while it runs or sleeps */
};

/* empty without CONFIG_SCHEDSTATS; stands still while kernel.sched_schedstats is 0 */
struct sched_statistics {
	unsigned long long
		block_start; /* by the clock of sched_info.last_arrival; 0: in no uninterruptible sleep */
	__u64 sum_block_runtime; /* ns, up to the last wake-up */
};

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[]; /* up to 6.4 an array of one, also where there are more */
};

struct thread_struct {
	unsigned long fsbase; /* only on x86-64 */
};

struct task_struct {
	struct thread_info thread_info;
	void *stack; /* its lowest address */
	unsigned int __state;
	unsigned int flags;
	/* an int up to 6.18, one unsigned byte on 7.3: CO-RE resizes only unsigned fields */
	unsigned int on_cpu;
	unsigned int on_rq;
	struct sched_entity se;
	struct sched_info sched_info;
	struct sched_statistics stats;
	struct mm_struct *mm;
	int exit_state;
	int pid;
	int tgid;
	struct pid *thread_pid; /* NULL once the task is reaped */
	struct task_struct *group_leader;
	struct task_struct
		*real_parent; /* a thread of the process that forked it, or who took it over */
	unsigned long nvcsw;
	unsigned long nivcsw;
	__u64 start_boottime;
	const struct cred *real_cred;
	char comm[FT_COMM];
	struct signal_struct *signal;
	struct css_set *cgroups; /* only with CONFIG_CGROUPS */
	unsigned int self_exec_id;
	struct uprobe_task *utask; /* only with CONFIG_UPROBES */
	struct thread_struct thread;
};

struct seq_file {
	unsigned long size;
	unsigned long count;
};

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* the numbers differ between kernels: CO-RE puts in those of the running one, and none for a controller that it was built without */
enum cgroup_subsys_id {
	memory_cgrp_id,
	pids_cgrp_id
};

/* the hierarchy of the cgroup in heads */
enum {
	HIERARCHY_DEFAULT = 0, /* version 2 */
	HIERARCHY_MEMORY = 1,  /* version 1, by controller */
	HIERARCHY_PIDS = 2
};
const volatile __u32 cgroup_hierarchy = HIERARCHY_DEFAULT;

/*
 * The pid namespace of the reader: its level below the initial one, and its inode. All numbers of tasks that come from the reader
 * or go to it are those of that namespace.
 */
const volatile __u32 pid_level;
const volatile __u32 pid_namespace;

/* Number of a task in the namespace of the reader; 0: the task is not in there, or was reaped. */
static __always_inline __u32 task_number(struct task_struct *t)
{
	struct pid *pid;

	if (!pid_level)
		return t->pid;
	pid = t->thread_pid;
	if (!pid || pid->level < pid_level)
		return 0;
	/* the verifier allows reads beyond the first element only of an array without a length */
	if (bpf_core_field_size(pid->numbers) == 0) {
		struct upid *number = &pid->numbers[pid_level];

		return number->ns->ns.inum == pid_namespace ? number->nr : 0;
	}
	struct upid number = {};
	__u32 inum = 0;

	bpf_probe_read_kernel(&number, sizeof(number), &pid->numbers[pid_level]);
	bpf_probe_read_kernel(&inum, sizeof(inum), &number.ns->ns.inum);
	return inum == pid_namespace ? number.nr : 0;
}

static __always_inline __u32 process_number(struct task_struct *t)
{
	return pid_level ? task_number(t->group_leader) : (__u32)t->tgid;
}

/* Process that a task is a child of; 0: none in the namespace of the reader. */
static __always_inline __u32 parent_number(struct task_struct *t)
{
	return process_number(t->real_parent);
}

/* On a run queue, and to run: since 6.12 a sleeper may stay queued until its turn comes. */
static __always_inline bool is_queued(struct task_struct *t)
{
	if (!t->on_rq)
		return 0;
	if (bpf_core_field_exists(t->se.sched_delayed))
		return !t->se.sched_delayed;
	return 1;
}

static __always_inline __u64 wait_ns(struct task_struct *t)
{
	if (bpf_core_field_exists(t->sched_info.run_delay))
		return t->sched_info.run_delay;
	return 0;
}

/* the time of a wait that goes on is not in the sum */
static __always_inline __u64 blocked_ns(struct task_struct *t)
{
	if (bpf_core_field_exists(t->stats.sum_block_runtime))
		return t->stats.sum_block_runtime;
	return 0;
}

/* cgroup of a task in the hierarchy that a controller is in */
#define CONTROLLED(groups, controller) \
	((groups)->subsys[bpf_core_enum_value(enum cgroup_subsys_id, controller)]->cgroup)

static __always_inline __u64 cgroup_id(struct css_set *groups)
{
	if (!bpf_core_field_exists(((struct task_struct *)0)->cgroups))
		return 0;
	if (cgroup_hierarchy == HIERARCHY_MEMORY) {
		if (bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
			return CONTROLLED(groups, memory_cgrp_id)->kn->id;
		return 0;
	}
	if (cgroup_hierarchy == HIERARCHY_PIDS) {
		if (bpf_core_enum_value_exists(enum cgroup_subsys_id, pids_cgrp_id))
			return CONTROLLED(groups, pids_cgrp_id)->kn->id;
		return 0;
	}
	return groups->dfl_cgrp->kn->id;
}

static __always_inline __u32 task_cpu(struct task_struct *t)
{
	if (bpf_core_field_exists(t->thread_info.cpu))
		return t->thread_info.cpu;
	return 0;
}

/* enum ft_state. __state has flags too, such as TASK_FREEZABLE: test bits, never equality. */
static __always_inline __u16 task_state(struct task_struct *t)
{
	__u32 state = t->__state;

	if (t->exit_state & EXIT_DEAD_OR_ZOMBIE)
		return FT_STATE_ZOMBIE;
	if (t->on_cpu)
		return FT_STATE_RUN;
	/* also with a sleeping state: preempted on its way to sleep */
	if (is_queued(t) || !state || (state & (TASK_WAKING | TASK_NEW)))
		return FT_STATE_RUNQ;
	if ((state & TASK_IDLE) == TASK_IDLE && (t->flags & PF_KTHREAD))
		return FT_STATE_IDLE_KTHREAD;
	if (state & TASK_STOPPED_OR_TRACED)
		return FT_STATE_STOPPED;
	if (state & TASK_PARKED)
		return FT_STATE_PARKED;
	if ((state & TASK_IDLE) != TASK_IDLE &&
	    (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT | TASK_FROZEN)))
		return FT_STATE_DISK;
	return FT_STATE_SLEEP;
}

/*
 * A number for one exec and all its forks: exec opens the program anew, and its forks hold that open file. The address of the file
 * alone would do, also where address spaces are not randomized, but once the file is closed another one may get the address.
 * `number` is memory of the record: a pointer that is stored there is a plain number when it is read again.
 */
static __always_inline __u32 image(struct mm_struct *mm, volatile __u64 *number)
{
	const __u64 odd = 0x9e3779b97f4a7c15ULL;
	__u64 hash;

	*number = (__u64)mm->exe_file;
	hash = *number;
	hash = hash * odd + mm->mmap_base;
	hash = hash * odd + mm->start_code;
	hash = hash * odd + mm->end_code;
	hash = hash * odd + mm->start_stack;
	return (hash * odd >> 32) | 1;
}

/*
 * What a task points to. Read once in a program: for each such read the verifier looks two names up in a list of all types of the kernel,
 * from its beginning on, which takes 0.5 ms, and does so anew on each path that leads to the read.
 */
struct pointers {
	struct mm_struct *mm;
	struct task_struct *leader;
	const struct cred *cred;
	struct css_set *groups;
};

static __always_inline struct pointers pointers_of(struct task_struct *t)
{
	struct pointers of = {
		.mm = t->mm,
		.leader = t->group_leader,
		.cred = t->real_cred,
	};

	if (bpf_core_field_exists(t->cgroups))
		of.groups = t->cgroups;
	/* else clang reads them again where they are needed */
	asm volatile("" : "+r"(of.mm), "+r"(of.leader), "+r"(of.cred), "+r"(of.groups));
	return of;
}

static __always_inline void fill_head(struct ft_head *head, struct task_struct *t,
				      const struct pointers *of, __u16 kind, __u16 state)
{
	head->size = sizeof(*head);
	head->kind = kind;
	head->state = state;
	head->status = (t->flags & PF_NO_USER_HALF) ? FT_KTHREAD : 0;
	if (t->flags & PF_EXITING)
		head->status |= FT_EXITING;
	head->cpu = task_cpu(t);
	head->ktime = bpf_ktime_get_ns();
	head->tid = task_number(t);
	head->tgid = process_number(t);
	head->start_boottime = t->start_boottime;
	head->process_start_boottime = of->leader->start_boottime;
	head->exec_vm = of->mm ? of->mm->exec_vm : 0;
	head->image = of->mm ? image(of->mm, &head->cgroup) : 0;
	head->former_tid = head->tid;
	head->parent = 0;
	head->unused = 0;
	head->cgroup = cgroup_id(of->groups);
	head->nvcsw = t->nvcsw;
	head->nivcsw = t->nivcsw;
	head->run_ns = t->se.sum_exec_runtime;
	head->wait_ns = wait_ns(t);
	head->blocked_ns = blocked_ns(t);
	head->self_exec_id = t->self_exec_id;
	head->uid = of->cred->euid.val;
	__builtin_memcpy(head->comm, t->comm, FT_COMM);
	__builtin_memcpy(head->process_comm, of->leader->comm, FT_COMM);
}

/*
 * Address of the task that has the mmap_lock of `mm` for writing, 0 if none has. Only a number to compare with: that
 * task may be gone. Tasks that lock for reading leave at most a hint, and that one may have left.
 */
static __always_inline __u64 mmap_lock_owner(struct mm_struct *mm)
{
	__u64 owner;

	if (!bpf_core_field_exists(mm->mmap_lock.owner))
		return 0;
	owner = mm->mmap_lock.owner.counter;
	return owner & RWSEM_READER_OWNED ? 0 : owner & ~(__u64)RWSEM_OWNER_FLAGS;
}

/* Whether the mapping is memory of a device, or of a kind that only its driver knows. */
static __always_inline bool is_of_device(struct vm_area_struct *vma)
{
	/* since 6.19 the flags are about to be replaced; the kernel does not map such memory, so that a copy fails anyway */
	if (bpf_core_field_exists(vma->vm_flags))
		return vma->vm_flags & (VM_IO | VM_PFNMAP | VM_MIXEDMAP);
	return 0;
}

/* Whether a process handles the page faults of the mapping. */
static __always_inline bool has_userfaultfd(struct vm_area_struct *vma)
{
	if (bpf_core_field_exists(vma->vm_userfaultfd_ctx.ctx))
		return vma->vm_userfaultfd_ctx.ctx;
	return 0;
}

struct mapping {
	__u64 start, end;
};

static __attribute__((unused)) long take_mapping(struct task_struct *t __attribute__((unused)),
						 struct vm_area_struct *vma,
						 struct mapping *mapping)
{
	mapping->start = vma->vm_start;
	mapping->end = vma->vm_end;
	return 0;
}

/* calls of a task whose return is probed: the kernel allows no more */
#define MOST_PROBED 64

/* checked when an object is opened, so that library and object never disagree on a layout */
const volatile __u32 abi = FT_ABI;

#endif
