/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Jumps out of functions: longjmp. A hit is the call of longjmp, whose stack is that of the functions which the jump leaves. Where the
 * jump leads is known from the call of setjmp that filled the same buffer: C libraries scramble what the buffer itself says.
 *
 * The buffers are in a map whose memory is there from the start: setjmp may be called a million times a second.
 */
#ifndef FLAMETOP_JUMPS_H
#define FLAMETOP_JUMPS_H

/* A buffer is good for the task that filled it. */
struct jump_buffer {
	__u64 task; /* a number that no other task has now */
	__u64 address;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct jump_buffer);
	__type(value, __u64); /* the stack pointer that a jump leads to */
} jump_buffers SEC(".maps");

/* where setjmp begins */
SEC("uprobe.multi")
int fill_jump_buffer(struct user_regs *ctx)
{
	struct jump_buffer buffer = { .address = ARGUMENT_0(ctx) };
	/* behind the return address */
	__u64 sp = READ_REG(ctx->sp) + RETURN_BYTES;

	if (!is_target(bpf_get_current_task_btf()))
		return 0;
	buffer.task = (__u64)bpf_get_current_task();
	bpf_map_update_elem(&jump_buffers, &buffer, &sp, BPF_ANY);
	return 0;
}

/* where longjmp begins */
SEC("uprobe.multi")
int hit_jump(struct user_regs *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct ft_event_counts *c = own_counts();
	struct jump_buffer buffer = { .address = ARGUMENT_0(ctx) };
	struct subject of = { .cut = FT_CUT_UNKNOWN };
	__u64 *sp;

	if (!c || !counts_for(t, c))
		return 0;
	buffer.task = (__u64)bpf_get_current_task();
	sp = bpf_map_lookup_elem(&jump_buffers, &buffer);
	if (sp)
		of.cut = *sp;
	hit_of(ctx, t, c, unit, &of, 1, 1);
	return 0;
}

#endif
