/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One source of events: a counter of the kernel, a tracepoint, or probes of a program or of the kernel. Each hit is counted, and few
 * have their stack copied.
 *
 * Each source has an object of its own, with one or two of these programs. So the kernel tells for each source how long it ran and how
 * often it was passed over, and the verifier takes out of a program all that the source does not need.
 *
 * A stack is due after a random weight: exponentially distributed, with the mean R. Such distances have no memory, so a hit of
 * weight w has its stack copied with probability 1 - exp(-w / R), whatever the weights before were, and without any arithmetic at the
 * others but a subtraction. The record has w and R: who adds up w / (1 - exp(-w / R)) gets all weight, in the mean.
 */
#define SAMPLES_EVENTS
#include "target.h"
#include "stack.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* a CPU that copies too many stacks in this time raises its R, ns */
#define WINDOW         10000000
#define LARGEST_RATE   (1ULL << 50)
#define LARGEST_WEIGHT (1ULL << 62)

/* set before load */
const volatile __u32 source;
const volatile __u32 weighed_by;          /* enum ft_weight */
const volatile __u64 unit = 1;            /* the weight of a hit, if all weigh the same */
const volatile __u32 number;              /* of the argument */
const volatile struct ft_predicate field; /* the field that weighs */
const volatile struct ft_predicate filter[FT_PREDICATES];
const volatile __u32 predicates; /* of `filter` */
/* logarithms to the base 2 of the numbers from 1 to 2, * 2^32 */
const volatile __u64 logarithms[FT_LOGARITHMS + 1];

struct ft_event_control control;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ft_event_counts);
} counts SEC(".maps");

/* the outermost call of a probed function that goes on */
struct call {
	__u64 start; /* CLOCK_MONOTONIC, ns; 0: none goes on */
	__u64 sp;    /* where the call's return address is */
	__u64 function;
	__u64 inner; /* calls of the same functions within it that go on */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

/*
 * Adds to a count. A program of a user probe may be preempted by another task that hits the probe: `shared`. Of all other programs the
 * kernel runs one at a time on a CPU.
 */
#define ADD(count, n, shared)                              \
	do {                                               \
		if (shared)                                \
			__sync_fetch_and_add(&(count), n); \
		else                                       \
			(count) += (n);                    \
	} while (0)

/* the number of the highest bit that is set, from 1 on; 0: none is */
static __always_inline __u32 bits(__u64 n)
{
	__u32 found = 0;

	for (int shift = 32; shift; shift /= 2) {
		if (n >> shift) {
			n >>= shift;
			found += shift;
		}
	}
	return found + (n != 0);
}

/*
 * A random number, exponentially distributed with the mean `rate`: rate * -ln(u), of a u evenly from 2^-32 to 1. The logarithm
 * is interpolated in a table: it is off by less than one of a million.
 */
__attribute__((noinline)) __u64 exponential(__u64 rate)
{
	const __u64 ln2 = 46516320; /* * 2^26 */
	__u64 u = (__u64)bpf_get_prandom_u32() + 1;
	__u32 whole = bits(u) - 1;
	__u64 part = (u << ((32 - whole) & 63)) & 0xffffffff;
	__u64 at = part >> 24, log, e;

	asm volatile("" : "+r"(at));
	at &= FT_LOGARITHMS - 1;
	log = logarithms[at];
	log += ((logarithms[at + 1] - log) * (part & 0xffffff)) >> 24;
	/* -ln(u) * 2^32 */
	e = ((((__u64)(32 - whole) << 32) - log) * ln2) >> 26;
	return ((rate & 0x7ffffff) * e >> 32) + ((rate >> 27) * e >> 5);
}

/* Whether a stack is due with this weight; `*rate` is the R that decided. */
static __always_inline bool is_due(struct ft_event_counts *c, __u64 weight, __u64 *rate,
				   bool shared)
{
	__s64 left;

	*rate = control.rate;
	if (c->rate > *rate && c->generation == control.generation)
		*rate = c->rate;
	if (!*rate)
		return 1;
	if (c->drawn != *rate) {
		c->drawn = *rate;
		c->left = exponential(*rate);
	}
	if (shared) {
		left = __sync_fetch_and_add(&c->left, -(__s64)weight) - (__s64)weight;
	} else {
		left = c->left - (__s64)weight;
		c->left = left;
	}
	if (left >= 0)
		return 0;
	c->left = exponential(*rate);
	return 1;
}

/* Raises this CPU's own R when it copies too many stacks: the reader's next R may be a second away. */
static __always_inline void brake(struct ft_event_counts *c, __u64 rate, __u64 now)
{
	if (!control.most)
		return;
	if (now - c->window > WINDOW) {
		c->window = now;
		c->in_window = 0;
	}
	if (++c->in_window <= control.most)
		return;
	c->in_window = 0;
	c->generation = control.generation;
	if (rate)
		rate *= 2;
	else
		/* the mean weight */
		rate = c->weight / (c->hits | !c->hits) + 1;
	c->rate = rate > LARGEST_RATE ? LARGEST_RATE : rate;
}

/* The sample of a free slot of this CPU, which is then busy. */
static __always_inline struct sample *claim(__u32 *slot)
{
	__u32 first = bpf_get_smp_processor_id() * FT_EVENT_SLOTS;

	for (__u32 i = 0; i < FT_EVENT_SLOTS; i++) {
		struct sample *sample;

		*slot = first + i;
		sample = bpf_map_lookup_elem(&scratch, slot);
		if (sample && !__sync_val_compare_and_swap(&sample->busy, 0, 1))
			return sample;
	}
	return NULL;
}

/* Counts a hit, of which a negative weight counts as 0. Returns whether its stack is due; `*rate` is the R that decided. */
static __always_inline bool count_hit(struct ft_event_counts *c, __s64 weighs, __u64 *weight,
				      __u64 *rate, bool shared)
{
	*weight = weighs < 0 ? 0 : weighs;
	if (*weight > LARGEST_WEIGHT)
		*weight = LARGEST_WEIGHT;
	ADD(c->hits, 1, shared);
	ADD(c->weight, *weight, shared);
	if (weighed_by != FT_WEIGHT_UNIT) {
		__u64 class = bits(*weight);

		/* masked, since some verifiers do not keep what a comparison tells */
		asm volatile("" : "+r"(class));
		class &= FT_WEIGHTS - 1;
		ADD(c->weights[class], 1, shared);
	}
	if (is_due(c, *weight, rate, shared))
		return 1;
	ADD(c->limited, 1, shared);
	return 0;
}

/* Begins the record of the task's stack. */
static __always_inline void begin_record(struct sample *sample, struct task_struct *t, __u16 kind,
					 __u64 weight, __u64 rate)
{
	struct pointers of = pointers_of(t);

	fill_head(&sample->head, t, &of, kind, FT_STATE_RUN);
	sample->head.cpu = bpf_get_smp_processor_id();
	__builtin_memset(&sample->event, 0, sizeof(sample->event));
	sample->event.source = source;
	sample->event.weight = weight;
	sample->event.rate = rate;
}

/* Has the ring take a record of this size, and frees the sample. Returns whether there was room. */
static __always_inline bool end_record(struct ft_event_counts *c, struct sample *sample, __u64 size,
				       bool teaches, bool shared)
{
	bool kept = !bpf_ringbuf_output(&ring, sample, size, wakeup(&sample->head, teaches));

	if (kept)
		ADD(c->bytes,
		    sample->stack.user_bytes + sample->stack.chunk_bytes +
			    sample->stack.piece_bytes,
		    shared);
	else
		ADD(c->lost, 1, shared);
	*(volatile __u64 *)&sample->busy = 0;
	return kept;
}

/* what an event is of; see struct ft_event */
struct subject {
	__u64 function;
	__u64 cut;
	__u32 lock;
};

/* Counts a hit, and copies the stack if one is due. `ctx`, `user_mode`: see copy_stack(). */
static __always_inline void hit_of(void *ctx, struct task_struct *t, struct ft_event_counts *c,
				   __s64 weighs, const struct subject *of, bool user_mode,
				   bool shared)
{
	__u64 weight, rate, size;
	struct sample *sample;
	bool teaches = 0;
	__u32 slot;

	if (!count_hit(c, weighs, &weight, &rate, shared))
		return;
	sample = claim(&slot);
	if (!sample) {
		ADD(c->missed, 1, shared);
		return;
	}
	ADD(c->taken, 1, shared);
	begin_record(sample, t, FT_KIND_EVENT, weight, rate);
	sample->event.function = of->function;
	sample->event.cut = of->cut;
	sample->event.lock = of->lock;
	size = copy_stack(ctx, t, sample, &slot, user_mode, &teaches);
	end_record(c, sample, size, teaches, shared);
	brake(c, rate, sample->head.ktime);
}

/* A hit that is no wait for a lock, and no jump. */
static __always_inline void hit(void *ctx, struct task_struct *t, struct ft_event_counts *c,
				__s64 weighs, __u64 function, bool user_mode, bool shared)
{
	struct subject of = { .function = function };

	hit_of(ctx, t, c, weighs, &of, user_mode, shared);
}

static __always_inline struct ft_event_counts *own_counts(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

/* Whether the task's hits count. */
static __always_inline bool counts_for(struct task_struct *t, struct ft_event_counts *c)
{
	if (t->pid)
		return is_target(t);
	c->idle++;
	return 0;
}

/* Counters of the kernel and of the processor: runs after each `unit` of them. */
SEC("perf_event")
int hit_counter(struct bpf_perf_event_data *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct ft_event_counts *c = own_counts();

	if (!c)
		return 0;
	c->runs++;
	if (counts_for(t, c))
		hit(ctx, t, c, unit, 0, IS_USER(READ_REG(MODE_OF(&ctx->regs))), 0);
	return 0;
}

/* the field at this place of a tracepoint's record */
static __always_inline __s64 number_at(__u64 record, const volatile struct ft_predicate *of)
{
	__u32 unread = 64 - 8 * of->bytes;
	__u64 n = 0;

	/* what lies behind the field is read, too, and no matter */
	bpf_probe_read_kernel(&n, sizeof(n), (void *)(record + of->offset));
	n <<= unread & 63;
	return of->kind == FT_FIELD_SIGNED ? (__s64)n >> (unread & 63)
					   : (__s64)(n >> (unread & 63));
}

static __always_inline bool compare(__s64 a, __s64 b, __u8 how, bool is_signed)
{
	bool less = is_signed ? a < b : (__u64)a < (__u64)b;

	switch (how) {
	case FT_EQUAL:
		return a == b;
	case FT_UNEQUAL:
		return a != b;
	case FT_LESS:
		return less;
	case FT_AT_MOST:
		return less || a == b;
	case FT_MORE:
		return !less && a != b;
	case FT_AT_LEAST:
		return !less;
	default:
		return a & b;
	}
}

static __always_inline bool has_text(__u64 record, const volatile struct ft_predicate *of)
{
	const volatile __u64 *wanted = (const volatile __u64 *)of->text;
	__u64 text[FT_TEXT / 8] = {};
	__u32 offset = of->offset;

	if (of->kind == FT_FIELD_DYNAMIC) {
		bpf_probe_read_kernel(&offset, sizeof(offset), (void *)(record + offset));
		offset &= 0xffff;
	}
	bpf_probe_read_kernel_str(text, sizeof(text), (void *)(record + offset));
	/* what an earlier, longer text left behind the end is no part of this one: the buffer was zero */
	return text[0] == wanted[0] && text[1] == wanted[1];
}
_Static_assert(FT_TEXT == 16, "two words are compared");

/* whether the tracepoint's record is one that the filter lets through */
static __always_inline bool passes(__u64 record)
{
	__u32 at = 0;

	if (!predicates)
		return 1;
	for (int i = 0; i < FT_PREDICATES; i++) {
		const volatile struct ft_predicate *of;
		bool yes;

		if (at >= FT_PREDICATES)
			break;
		of = &filter[at];
		if (of->kind == FT_FIELD_TEXT || of->kind == FT_FIELD_DYNAMIC)
			yes = has_text(record, of) == (of->how == FT_EQUAL);
		else
			yes = compare(number_at(record, of), of->value, of->how,
				      of->kind == FT_FIELD_SIGNED);
		at = yes ? of->yes : of->no;
	}
	return at == FT_ACCEPT;
}

SEC("tracepoint")
int hit_tracepoint(void *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct ft_event_counts *c = own_counts();
	__u64 record;

	if (!c)
		return 0;
	/* a number, which the verifier lets us count with */
	*(volatile __u64 *)&c->context = (__u64)ctx;
	record = *(volatile __u64 *)&c->context;
	if (passes(record) && counts_for(t, c))
		hit(ctx, t, c,
		    weighed_by == FT_WEIGHT_FIELD ? number_at(record, &field) : (__s64)unit, 0, 0,
		    0);
	return 0;
}

/* An argument of a function by the calling convention. All are read: the verifier allows no register of a computed place. */
static __always_inline __s64 argument(struct user_regs *ctx)
{
	__u64 first = ARGUMENT_0(ctx), second = ARGUMENT_1(ctx), third = ARGUMENT_2(ctx);
	__u64 fourth = ARGUMENT_3(ctx), fifth = ARGUMENT_4(ctx), sixth = ARGUMENT_5(ctx);

	return number == 0   ? first
	       : number == 1 ? second
	       : number == 2 ? third
	       : number == 3 ? fourth
	       : number == 4 ? fifth
			     : sixth;
}

/* Functions of programs or of the kernel, where they begin or anywhere in them. */
SEC("uprobe.multi")
int hit_function(struct user_regs *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct ft_event_counts *c = own_counts();

	if (c && counts_for(t, c))
		hit(ctx, t, c, weighed_by == FT_WEIGHT_ARGUMENT ? argument(ctx) : (__s64)unit, 0,
		    IS_USER(READ_REG(MODE_OF(ctx))), 1);
	return 0;
}

/* Whether this is a place on a stack of the kernel, none of whose functions is left by a jump. */
static __always_inline bool is_of_kernel(__u64 sp)
{
	return sp >> 63;
}

/* Whether the call whose return address is there goes on: while it does, the address is that of all probed returns. */
static __always_inline bool goes_on(struct task_struct *t, __u64 sp)
{
	__u64 address = 0;

	/* without a return address on the stack nothing tells of a jump */
	if (is_of_kernel(sp) || !RETURN_BYTES)
		return 1;
	return !bpf_probe_read_user(&address, sizeof(address), (void *)sp) &&
	       address == probed_return(t->mm);
}

/* Where functions whose durations are measured begin. */
SEC("uprobe.multi")
int begin_call(struct user_regs *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u64 sp = READ_REG(ctx->sp);
	struct call *call;

	if (!t->pid || !is_target(t))
		return 0;
	call = bpf_task_storage_get(&calls, t, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!call)
		return 0;
	/* a call within the outermost one, unless that one was left by a jump */
	if (call->start && sp < call->sp && goes_on(t, call->sp)) {
		call->inner++;
		return 0;
	}
	call->inner = 0;
	call->sp = sp;
	call->function = IP_OF(ctx);
	call->start = bpf_ktime_get_ns();
	return 0;
}

/* Whether this is the return of a call within the outermost one, by the stack pointer after it. */
static __always_inline bool is_inner(struct call *call, __u64 sp)
{
	if (!is_of_kernel(call->sp))
		return sp != call->sp + RETURN_BYTES;
	/* from 6.13 to 6.18 the kernel gives a stack pointer of its own here, but each of its calls returns */
	if (!call->inner)
		return 0;
	call->inner--;
	return 1;
}

/* Where functions have returned. */
SEC("uretprobe.multi")
int hit_return(struct user_regs *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct ft_event_counts *c = own_counts();
	__u64 function = bpf_get_func_ip(ctx);
	__s64 weight = unit;

	if (!c || !counts_for(t, c))
		return 0;
	if (weighed_by == FT_WEIGHT_RETURNED)
		weight = RETURNED_OF(ctx);
	if (weighed_by == FT_WEIGHT_DURATION) {
		struct call *call = bpf_task_storage_get(&calls, t, 0, 0);

		/* a call that began before it was probed */
		if (!call || !call->start)
			return 0;
		if (is_inner(call, READ_REG(ctx->sp)))
			return 0;
		weight = bpf_ktime_get_ns() - call->start;
		function = call->function;
		call->start = 0;
	}
	hit(ctx, t, c, weight, function, IS_USER(READ_REG(MODE_OF(ctx))), 1);
	return 0;
}

/* where an argument of a USDT probe is; source.rs of the kernel side has the same */
struct usdt_argument {
	__s64 value; /* the argument itself, or what is added to the address */
	__u8 kind;   /* 0 always `value`, 1 in a register, 2 in memory */
	__u8 reg;    /* words of 8 bytes in front of it in struct user_regs */
	__u8 index;  /* the same of a register that is added to the address; else NO_INDEX */
	__u8 shift;  /* by so many bits it is shifted before */
	__u8 unused; /* highest bits that are not the argument's */
	__u8 is_signed;
	__u8 zero[2];
};
#define NO_INDEX 0xff

/* by the cookie of a site */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set before load */
	__type(key, __u32);
	__type(value, struct usdt_argument);
} arguments SEC(".maps");

static __always_inline __u64 user_register(struct user_regs *ctx, __u8 word)
{
	__u64 value = 0;

	/* the helper takes a computed place, the verifier does not */
	if (word < sizeof(*ctx) / 8)
		bpf_probe_read_kernel(&value, sizeof(value), (void *)ctx + word * 8);
	return value;
}

static __always_inline __s64 usdt_argument(struct user_regs *ctx)
{
	__u32 at = bpf_get_attach_cookie(ctx);
	const struct usdt_argument *a = bpf_map_lookup_elem(&arguments, &at);
	__u64 value;

	if (!a)
		return 0;
	value = a->value;
	if (a->kind)
		value += user_register(ctx, a->reg);
	if (a->kind == 2) {
		__u64 address = value;

		if (a->index != NO_INDEX)
			address += user_register(ctx, a->index) << (a->shift & 63);
		value = 0;
		/* no byte more: behind it there may be nothing */
		if (a->unused == 0)
			bpf_probe_read_user(&value, 8, (void *)address);
		else if (a->unused == 32)
			bpf_probe_read_user(&value, 4, (void *)address);
		else if (a->unused == 48)
			bpf_probe_read_user(&value, 2, (void *)address);
		else
			bpf_probe_read_user(&value, 1, (void *)address);
	}
	value <<= a->unused & 63;
	return a->is_signed ? (__s64)value >> (a->unused & 63) : (__s64)(value >> (a->unused & 63));
}

/* USDT probes, one of whose arguments weighs. */
SEC("uprobe.multi")
int hit_usdt(struct user_regs *ctx)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct ft_event_counts *c = own_counts();

	if (c && counts_for(t, c))
		hit(ctx, t, c, usdt_argument(ctx), 0, 1, 1);
	return 0;
}

#include "jumps.h"
#include "stretches.h"
#include "wake.h"
