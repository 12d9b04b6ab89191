/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One pass over all tasks: a record for each whose stack may have changed.
 *
 * The kernel runs the program again for the same task when its buffer was full,
 * so nothing is counted or remembered before the last write has succeeded.
 */
#include "memory.h"
#include "seen.h"
#include "target.h"

int read_user(__u64 bytes, __u64 address);
/* there is one way at a time, `follow` */
#define READ_USER(way, bytes, address) ((void)(way), read_user(bytes, address))
#include "chain.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* size of the kernel's buffer for one read: 8 pages */
#define SEQ_BUFFER (32 * 1024)
_Static_assert(MEMORY_BYTES == SEQ_BUFFER, "`memory` fills that buffer");
struct record {
	struct ft_head head;
	struct ft_stack stack;
};

/* the chunk that has a chain */
struct chained {
	struct ft_chunk chunk;
	struct ft_chain_head head;
	struct ft_chain_node nodes[FT_PASS_NODES];
};

#define KERNEL_BYTES (FT_KERNEL_FRAMES * sizeof(__u64))
_Static_assert(sizeof(struct record) + KERNEL_BYTES + FT_PASS_STACK + FT_PASS_PIECE +
			       sizeof(struct chained) <
		       SEQ_BUFFER,
	       "a record must fit in one read");
_Static_assert(FT_PASS_STACK + FT_PASS_PIECE + PAGE <= MEMORY_BYTES,
	       "both copies share the buffer; a page of slack lets the verifier see that the last "
	       "page fits");

/* Counts of visited tasks, each in exactly one place; bytes are those of user stacks. */
struct counts {
	__u64 visited, written, unchanged, on_cpu, idle_kthreads;
	__u64 failed_mm_busy, failed_torn, failed_faulted, failed_exited;
	__u64 bytes;
};

struct counts counts;
__u32 write_marks;    /* this pass writes FT_KIND_MARK where nothing else is written */
__u32 running_stacks; /* there is no CPU clock: copy user stacks of running tasks too, by the registers of their last kernel entry */
__u32 recheck;        /* `own` has changed since the last pass */
__u32 reader;         /* tgid of the reader, in the initial pid namespace */

/* one reader at a time, so one record at a time */
struct record record;
__u64 kernel_stack[FT_KERNEL_FRAMES + 1];
struct follow follow;
struct chained chained;
volatile __u64 chained_bytes; /* of `chained`; 0: there is no chain */
volatile __u64 chain_room;    /* bytes that it may have */
__u32 chain_due;
/* pages that were read last, by the low bits of their numbers, and where each is in the kernel's mapping of all memory */
#define PAGES_READ 8
struct page_read {
	__u64 user, kernel;
} pages_read[PAGES_READ];

/* Holders of mmap_locks: the address of a holder's task is known, and its tid as soon as a pass visits that task. */
struct holder {
	__u64 address;
	__u32 tid;  /* 0: not met */
	__u32 pass; /* the pass that met the task */
	char comm[FT_COMM];
};
#define HOLDERS 8
struct holder holders[HOLDERS];
__u32 next_holder;
__u32 look_until; /* the last pass that looks for them */

/*
 * CLOCK_MONOTONIC less the scheduler's clock, at most some 10 us too much: when a pass begins, this thread has just come onto its
 * CPU. The least difference is the nearest; it ages, since CLOCK_MONOTONIC is slewed.
 */
__u64 clock_offset;
__u32 clock_pass; /* the pass that read both clocks */
#define SLEWED_IN_A_PASS 10000

static __always_inline void look_at_clocks(void)
{
	struct task_struct *self = bpf_get_current_task_btf();
	__u64 offset;

	if (clock_pass == pass || !bpf_core_field_exists(self->sched_info.last_arrival))
		return;
	offset = bpf_ktime_get_ns() - self->sched_info.last_arrival;
	if (!clock_offset || (__s64)(offset - clock_offset) < SLEWED_IN_A_PASS)
		clock_offset = offset;
	else
		clock_offset += SLEWED_IN_A_PASS;
	clock_pass = pass;
}

/* an uninterruptible sleep that goes on is in no sum of the kernel yet */
static __always_inline void add_open_block(struct ft_head *head, struct task_struct *t)
{
	__u64 start;

	if (!bpf_core_field_exists(t->stats.block_start))
		return;
	start = t->stats.block_start;
	if (start && (__s64)(head->ktime - clock_offset - start) > 0)
		head->blocked_ns += head->ktime - clock_offset - start;
}

static __always_inline int put_head(struct seq_file *seq, struct task_struct *t,
				    const struct pointers *of, __u16 kind, __u16 state,
				    __u32 parent)
{
	fill_head(&record.head, t, of, kind, state);
	record.head.parent = parent;
	return bpf_seq_write(seq, &record.head, sizeof(record.head));
}

static __always_inline void count_unchanged(__u16 state)
{
	counts.visited++;
	if (state == FT_STATE_IDLE_KTHREAD)
		counts.idle_kthreads++;
	else
		counts.unchanged++;
}

/* a task that needs no record of its own */
static __always_inline int skip(struct seq_file *seq, struct task_struct *t,
				const struct pointers *of, __u16 state)
{
	if (!write_marks || !put_head(seq, t, of, FT_KIND_MARK, state, 0))
		count_unchanged(state);
	return 0;
}

/* The limit in one piece with the compare: else the compiler may compare a copy, and the verifier of Linux 6.1 forgets what it saw. */
static __always_inline __u64 at_most(__u64 n, const __u64 most)
{
	asm volatile("if %0 <= %1 goto +1\n"
		     "%0 = %1"
		     : "+r"(n)
		     : "i"(most));
	return n;
}

/* a task is visited: it may be a holder */
static __always_inline void meet(struct task_struct *t, __u32 tid)
{
	for (int i = 0; i < HOLDERS; i++) {
		struct holder *holder = &holders[i];

		if (holder->address == (__u64)t) {
			holder->tid = tid;
			holder->pass = pass;
			__builtin_memcpy(holder->comm, t->comm, FT_COMM);
		}
	}
}

/* mmap_lock of `mm` is held: gives the holder's tid if it is known, and has passes look for the holder until the task is tried again */
static __always_inline void name_holder(struct ft_stack *stack, struct mm_struct *mm)
{
	__u64 owner = mmap_lock_owner(mm);

	if (!owner)
		return;
	look_until = pass + MOST_PASSES_APART + 1;
	for (int i = 0; i < HOLDERS; i++) {
		struct holder *holder = &holders[i];

		if (holder->address != owner)
			continue;
		/* if it was met long ago, the address may be another task's by now */
		if (holder->tid && pass - holder->pass <= 1) {
			stack->holder_tid = holder->tid;
			__builtin_memcpy(stack->holder_comm, holder->comm, FT_COMM);
		}
		return;
	}
	struct holder *holder = &holders[next_holder++ % HOLDERS];

	holder->address = owner;
	holder->tid = 0;
}

/*
 * Whether the thread that makes this pass has pushed `t` off its CPU: `t` left when that thread came, by one reading of one
 * clock. Without the pass `t` would run.
 */
static __always_inline bool is_displaced(struct task_struct *t)
{
	struct task_struct *self = bpf_get_current_task_btf();

	if (!bpf_core_field_exists(t->sched_info.last_queued))
		return 0;
	return t->sched_info.last_queued &&
	       t->sched_info.last_queued == self->sched_info.last_arrival &&
	       task_cpu(t) == task_cpu(self);
}

/* A way along the calls of a task whose return is probed, and the copies of its stack: through memory, as `visited_state`. */
struct returns {
	__u64 task;   /* a struct task_struct */
	__u64 call;   /* a struct return_instance, innermost first; 0: there is none */
	__u64 probed; /* the address to which all of them return */
	__u64 sp, bytes;
	__u64 piece, piece_bytes;
};
struct returns returns;

/* Puts a return address back into the copy of `bytes` that is at `place` of the memory, if it is in there and still missing. */
static __always_inline void put_back(__u64 stack, __u64 address, __u64 from, __u64 bytes,
				     __u64 place)
{
	__u64 at = stack - from, *word;

	if (at >= bytes)
		return;
	at = (at + place) & ~7ULL;
	asm volatile("" : "+r"(at));
	if (at > sizeof(memory) - sizeof(*word))
		return;
	word = (__u64 *)(memory + at);
	/* a call that was left by a jump is in the list still, but no more on the stack */
	if (*word == returns.probed)
		*word = address;
}

static long restore_return(__u32 i __attribute__((unused)), void *none __attribute__((unused)))
{
	struct return_instance *call = (void *)returns.call;
	__u64 stack = 0, address = 0, next = 0;

	if (!call)
		return 1;
	bpf_core_read(&stack, sizeof(stack), &call->stack);
	bpf_core_read(&address, sizeof(address), &call->orig_ret_vaddr);
	bpf_core_read(&next, sizeof(next), &call->next);
	put_back(stack, address, returns.sp, returns.bytes, 0);
	put_back(stack, address, returns.piece, returns.piece_bytes, FT_PASS_STACK);
	returns.call = next;
	return 0;
}

/*
 * Puts return addresses back that the kernel took from the stack of the task, since these returns are probed.
 * Not static: the verifier checks the function once, rather than for each path to it.
 */
__attribute__((noinline)) int restore_returns(void)
{
	struct task_struct *t = (void *)returns.task;

	/* a global function is verified even if nothing calls it */
	if (!reads_kernel)
		return 0;
	if (!bpf_core_field_exists(t->mm->uprobes_state.xol_area) ||
	    !bpf_core_field_exists(struct return_instance, orig_ret_vaddr))
		return 0;
	returns.probed = BPF_CORE_READ(t, mm, uprobes_state.xol_area, vaddr);
	returns.call = (__u64)BPF_CORE_READ(t, utask, return_instances);
	if (returns.probed)
		bpf_loop(MOST_PROBED, restore_return, NULL, 0);
	return 0;
}

/* Where memory of the task whose page tables `copying` has lies in the kernel's mapping of all memory; 0: it is not there. */
static __always_inline __u64 kernel_place(__u64 address)
{
	__u64 user = address & ~(PAGE - 1), slot = address / PAGE;

	asm volatile("" : "+r"(slot));
	struct page_read *read = &pages_read[slot & (PAGES_READ - 1)];

	if (user != read->user) {
		read->user = user;
		read->kernel = page_of(user);
	}
	return read->kernel <= PAGE_UNTOUCHED ? 0 : read->kernel + (address - user);
}

/*
 * Reads so much of that memory, which lies in two pages at most, into the window of `follow`. Not static: the verifier checks the function
 * once, rather than for each path to it.
 */
__attribute__((noinline)) int read_user(__u64 bytes, __u64 address)
{
	__u64 at, first = PAGE - (address & (PAGE - 1));

	/* a global function is verified even if nothing calls it */
	if (!reads_kernel || bytes > FT_CHAIN_WINDOW)
		return -1;
	at = kernel_place(address);
	if (!at)
		return -1;
	if (first >= bytes)
		return bpf_probe_read_kernel(follow.window, bytes, (void *)at);
	/* else the bounds are checked of copies */
	first &= FT_CHAIN_WINDOW - 1;
	asm volatile("" : "+r"(first));
	if (first >= FT_CHAIN_WINDOW || bpf_probe_read_kernel(follow.window, first, (void *)at))
		return -1;
	at = kernel_place(address + first);
	bytes = (bytes - first) & (FT_CHAIN_WINDOW - 1);
	asm volatile("" : "+r"(bytes));
	if (!at || bytes >= FT_CHAIN_WINDOW)
		return -1;
	return bpf_probe_read_kernel((char *)follow.window + first, bytes, (void *)at);
}

static long follow_chain(__u32 i, void *none __attribute__((unused)))
{
	__u64 index = i;

	/* else the bound is checked of a copy */
	asm volatile("" : "+r"(index));
	if (!follow.head.rest || index >= FT_PASS_NODES)
		return 1;
	return !follow_next(&follow, &chained.nodes[index]);
}

/*
 * Copies the chain that is due, within the lock of the mappings, as the stack. Not static: the verifier checks the function once, rather
 * than for each path to it.
 */
__attribute__((noinline)) int copy_beside(void)
{
	if (!reads_kernel || !chain_due)
		return 0;
	chain_due = 0;
	for (int i = 0; i < PAGES_READ; i++)
		pages_read[i].user = 1;
	if (!follow_first(&follow))
		return 0;
	read_lock(&follow);
	bpf_loop(FT_PASS_NODES, follow_chain, NULL, 0);
	chained.chunk.address = FT_CHAIN_ADDRESS;
	chained.head = follow.head;
	chained.chunk.bytes = sizeof(chained.head) + follow.nodes * sizeof(chained.nodes[0]);
	chained_bytes = sizeof(chained.chunk) + chained.chunk.bytes;
	return 0;
}

/* the thread pointer of the task of `record` */
static __u64 visited_pointer;

/* Looks whether the task of `record` has a chain to be copied: one that runs changes its chain. Not static: as above. */
__attribute__((noinline)) int look_for_chain(void)
{
	chained_bytes = chain_room = chain_due = 0;
	if (record.head.state != FT_STATE_RUN &&
	    find_chain(&follow, &record.head, visited_pointer)) {
		chain_due = 1;
		chain_room = sizeof(chained);
	}
	return 0;
}

/* the state of the task that is visited: through memory, so that the verifier follows one program rather than one for each state */
volatile __u16 visited_state;

SEC("iter.s/task")
int task_stacks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	reader = bpf_get_current_pid_tgid() >> 32;
	look_at_clocks();
	if (!t)
		return 0;
	if (trial) {
		if (t->tgid == (int)reader)
			find_memory(t);
		return 0;
	}

	struct seq_file *seq = ctx->meta->seq;
	__u32 tid = task_number(t);

	visited_state = task_state(t);
	if (visited_state == FT_STATE_RUNQ && is_displaced(t))
		visited_state = FT_STATE_RUN;
	struct seen now = {
		.start_boottime = t->start_boottime,
		.switches = t->nvcsw + t->nivcsw,
		.tid = tid,
		.exec_id = t->self_exec_id,
		.state = visited_state,
	};
	struct seen *place = place_of(tid, now.start_boottime);

	if (!place)
		return 0;
	if ((__s32)(look_until - pass) >= 0)
		meet(t, tid);

	bool running = now.state == FT_STATE_RUN;

	found = find(place, &now);
	/* a task with a place is of the target, unless its process was excluded meanwhile */
	if (recheck && found & FOUND_KNOWN && !is_target(t)) {
		place->tid = 0;
		return 0;
	}
	/* most tasks of most machines: nothing that they point to is read */
	if (found == FOUND_UNCHANGED && !write_marks) {
		count_unchanged(now.state);
		return 0;
	}

	struct pointers of = pointers_of(t);
	bool known = found & FOUND_KNOWN;

	if (found == FOUND_UNCHANGED)
		return skip(seq, t, &of, now.state);
	if (!is_target(t))
		return 0;

	__u32 parent = known || t != of.leader ? 0 : parent_number(t);

	if (running && !running_stacks) {
		if (put_head(seq, t, &of, FT_KIND_TASK, now.state, parent))
			return 0;
		counts.visited++;
		counts.on_cpu++;
		return 0;
	}

	if (now.state == FT_STATE_IDLE_KTHREAD) {
		if (put_head(seq, t, &of, FT_KIND_TASK, now.state, parent))
			return 0;
		remember(place, known, &now, 0);
		counts.visited++;
		counts.idle_kthreads++;
		return 0;
	}

	if (now.state == FT_STATE_ZOMBIE) {
		if (put_head(seq, t, &of, FT_KIND_TASK, now.state, parent))
			return 0;
		remember(place, known, &now, 0);
		if (found & FOUND_ASKED)
			bpf_map_delete_elem(&want, &tid);
		counts.visited++;
		counts.written++;
		return 0;
	}

	__u64 user_bytes = 0, piece_bytes = 0, sp = 0, piece_address = 0;
	__u64 least = sizeof(record) + KERNEL_BYTES, rest, chunk_bytes;
	bool user_half;

	fill_head(&record.head, t, &of, FT_KIND_TASK, now.state);
	record.head.parent = parent;
	add_open_block(&record.head, t);
	__builtin_memset(&record.stack, 0, sizeof(record.stack));
	record.head.status |= running ? FT_HAS_STACK | FT_LAST_ENTRY : FT_HAS_STACK;
	user_half = !(record.head.status & FT_KTHREAD) && of.mm;
	visited_pointer = THREAD_POINTER(t);
	look_for_chain();
	least += chain_room;
	rest = seq->size - seq->count - least;
	copying.full = seq->size - seq->count <= least;
	if (user_half) {
		struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);
		long err;

		COPY_REGS(record.stack.regs, regs);
		if (IS_COMPAT(MODE_OF(regs)))
			record.head.status |= FT_COMPAT;
		sp = record.stack.regs[REG_SP];
		err = copy(t, sp, FT_PASS_STACK, rest, 0, FT_FAULTED);
		user_bytes = copying.bytes;
		record.stack.mapping_start = copying.start;
		record.stack.mapping_end = copying.end;
		if (err == -EBUSY) {
			/* the task did not run: its last record holds, and the request stays */
			if (found & FOUND_SAME && !place->passes_apart)
				return skip(seq, t, &of, now.state);
			record.head.status |= FT_MM_BUSY;
			name_holder(&record.stack, of.mm);
		} else if (err) {
			record.head.status |= FT_NO_MAPPING;
		}
		record.head.status |= copying.status;
		if (copying.end - sp > FT_PASS_STACK && user_bytes)
			record.head.status |= FT_CLAMPED;
		__u64 *asked = found & FOUND_ASKED ? bpf_map_lookup_elem(&want, &tid) : NULL;

		if (asked) {
			piece_address = *asked & ~7ULL;
			if (copy(t, piece_address, FT_PASS_PIECE, rest - user_bytes, FT_PASS_STACK,
				 FT_PIECE_FAILED))
				record.head.status |= FT_PIECE_FAILED;
			piece_bytes = copying.bytes;
			record.head.status |= copying.status;
		}
	}

	/* overflow before the copy of the kernel's stack rather than after it: the kernel will run this program again */
	if (copying.full) {
		bpf_seq_write(seq, memory, sizeof(memory));
		return 0;
	}

	/* the kernel stack of a running task: none on x86, an old one on arm64 */
	long frames = running ? 0 : bpf_get_task_stack(t, kernel_stack, KERNEL_BYTES, 0);
	__u64 kernel_bytes = frames > 0 ? frames : 0;

	if (!kernel_bytes)
		record.head.status |= FT_NO_KERNEL_STACK;

	user_bytes = at_most(user_bytes, FT_PASS_STACK);
	if (!copies_pages() && user_bytes &&
	    bpf_copy_from_user_task(memory, user_bytes, (void *)sp, t, 0)) {
		record.head.status |= FT_FAULTED;
		user_bytes = 0;
	}
	piece_bytes = at_most(piece_bytes, FT_PASS_PIECE);
	if (!copies_pages() && piece_bytes &&
	    bpf_copy_from_user_task(memory + FT_PASS_STACK, piece_bytes, (void *)piece_address, t,
				    0)) {
		record.head.status |= FT_PIECE_FAILED;
		piece_bytes = 0;
	}

	returns.task = (__u64)t;
	returns.sp = sp;
	returns.bytes = user_bytes;
	returns.piece = piece_address;
	returns.piece_bytes = piece_bytes;
	restore_returns();
	chunk_bytes = chained_bytes;
	record.stack.user_address = sp;
	record.stack.piece_address = piece_bytes ? piece_address : 0;
	record.stack.switches_after = t->nvcsw + t->nivcsw;
	if (!running && (t->on_cpu || record.stack.switches_after != now.switches)) {
		/* the copies are of several moments */
		record.head.status = (record.head.status & ~FT_HAS_STACK) | FT_TORN;
		kernel_bytes = user_bytes = piece_bytes = chunk_bytes = 0;
	}
	record.stack.kernel_bytes = kernel_bytes;
	record.stack.user_bytes = user_bytes;
	record.stack.piece_bytes = piece_bytes;
	record.stack.chunk_bytes = chunk_bytes;
	record.stack.chunks = chunk_bytes != 0;

	__u32 status = record.head.status;
	__u64 front = status & FT_HAS_STACK ? sizeof(record) : sizeof(record.head);

	record.head.size = front + kernel_bytes + user_bytes + chunk_bytes + piece_bytes;
	front = at_most(front, sizeof(record));
	if (bpf_seq_write(seq, &record, front))
		return 0;
	kernel_bytes = at_most(kernel_bytes, KERNEL_BYTES);
	if (kernel_bytes && bpf_seq_write(seq, kernel_stack, kernel_bytes))
		return 0;
	user_bytes = at_most(user_bytes, FT_PASS_STACK);
	if (user_bytes && bpf_seq_write(seq, memory, user_bytes))
		return 0;
	chunk_bytes = at_most(chunk_bytes, sizeof(chained));
	if (chunk_bytes && bpf_seq_write(seq, &chained, chunk_bytes))
		return 0;
	piece_bytes = at_most(piece_bytes, FT_PASS_PIECE);
	if (piece_bytes && bpf_seq_write(seq, memory + FT_PASS_STACK, piece_bytes))
		return 0;

	/* the holder of the lock may be known at the next pass */
	bool nameless = (status & FT_MM_BUSY) && !record.stack.holder_tid;

	if (!running)
		remember(place, known && !nameless, &now,
			 status & (FT_TORN | FT_MM_BUSY | FT_FAULTED));
	/* a torn record leaves the request for the next one */
	if (found & FOUND_ASKED && !(status & FT_TORN))
		bpf_map_delete_elem(&want, &tid);
	counts.visited++;
	counts.bytes += user_bytes + chunk_bytes + piece_bytes;
	if (running)
		counts.on_cpu++;
	else if (status & FT_TORN)
		counts.failed_torn++;
	else if (status & FT_MM_BUSY)
		counts.failed_mm_busy++;
	else if (status & FT_FAULTED)
		counts.failed_faulted++;
	else if (!user_half && !(status & FT_KTHREAD))
		counts.failed_exited++;
	else
		counts.written++;
	return 0;
}
