/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What passes know of each task from the last record of that task: whether the task has moved since, and whether a copy of its stack is
 * due again or asked for.
 */
#ifndef FLAMETOP_SEEN_H
#define FLAMETOP_SEEN_H

#include "kernel.h"

/* a copy that failed is tried again 1, 2, 4 … passes later, at most this many */
#define MOST_PASSES_APART 16

__u32 pass;   /* number of this pass */
__u32 wanted; /* there are requests in `want` */

/*
 * The last record of each task, in short. A table of our own rather than task storage: tids are visited in ascending
 * order, so that the next entry lies beside the last one, where storage costs three cache misses a task. A task
 * that lost its place to another counts as changed.
 */
struct seen {
	__u64 start_boottime;
	__u64 switches;
	__u32 tid; /* 0: nobody */
	__u32 exec_id;
	__u32 retry_pass;
	__u16 state;
	__u16 passes_apart; /* 0: the record was whole, or short for a reason that lasts */
};
_Static_assert(sizeof(struct seen) == 32, "two to a cache line");

#define PLACES 4
struct places {
	struct seen of[PLACES];
};

const volatile __u32 index_mask = 0; /* max_entries of `tasks` - 1, both set before load */

/* the tid without its lowest bits → where its task may be */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct places);
} tasks SEC(".maps");

/* tid → address of the piece that the walker asks for */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u64);
} want SEC(".maps");

/* the result of `place_of`: through memory, so that the verifier follows one program rather than one for each place */
volatile __u32 found_at;

/* the place of a task, or the place that it would take, which has another tid or start */
static __always_inline struct seen *place_of(__u32 tid, __u64 start_boottime)
{
	__u32 index = (tid / PLACES) & index_mask;
	struct places *places = bpf_map_lookup_elem(&tasks, &index);
	/* neighbours first; a later task takes any free place, or that of another task */
	__u32 at = tid % PLACES;

	if (!places)
		return NULL;
	if (places->of[at].tid != tid || places->of[at].start_boottime != start_boottime) {
		if (places->of[at].tid)
			at = pass % PLACES;
		for (__u32 i = 0; i < PLACES; i++) {
			struct seen *other = &places->of[i];

			if (other->tid == tid && other->start_boottime == start_boottime) {
				at = i;
				break;
			}
			if (!other->tid)
				at = i;
		}
	}
	found_at = at;
	return &places->of[found_at % PLACES];
}

/* what is known of the task that is visited: through memory, as `visited_state` */
#define FOUND_KNOWN     1 /* has a place */
#define FOUND_SAME      2 /* as at the last pass */
#define FOUND_RETRY     4 /* the copy that failed is due again */
#define FOUND_ASKED     8 /* the walker asks for a piece */
#define FOUND_UNCHANGED (FOUND_KNOWN | FOUND_SAME)
volatile __u32 found;

/* what is known of a task by its place and the request for a piece of its stack: FOUND_… */
static __always_inline __u32 find(struct seen *place, struct seen *now)
{
	__u32 bits = 0;

	if (wanted && bpf_map_lookup_elem(&want, &now->tid))
		bits = FOUND_ASKED;
	if (place->tid != now->tid || place->start_boottime != now->start_boottime)
		return bits;
	bits |= FOUND_KNOWN;
	if (now->state != FT_STATE_RUN && place->switches == now->switches &&
	    place->state == now->state && place->exec_id == now->exec_id)
		bits |= FOUND_SAME;
	if (place->passes_apart && (__s32)(pass - place->retry_pass) >= 0)
		bits |= FOUND_RETRY;
	return bits;
}

static __always_inline void remember(struct seen *place, bool known, struct seen *now, bool retry)
{
	if (retry) {
		__u16 apart = known && place->switches == now->switches ? place->passes_apart * 2
									: 0;

		now->passes_apart = !apart                      ? 1
				    : apart > MOST_PASSES_APART ? MOST_PASSES_APART
								: apart;
		now->retry_pass = pass + now->passes_apart;
	}
	*place = *now;
}

#endif
