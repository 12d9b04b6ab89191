/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the frames are copied that an interpreter keeps outside of the stack: node by node of a chain, in the same moment as the stack.
 *
 * Whoever includes this file says with READ_USER(follow, bytes, address) how up to FT_CHAIN_WINDOW bytes of the task's memory are read into the
 * window of a way; not 0: they cannot be.
 */
#ifndef FLAMETOP_CHAIN_H
#define FLAMETOP_CHAIN_H

#include "kernel.h"

/* the chains that the reader has told of; all objects share the map */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct ft_chain_key);
	__type(value, struct ft_chain);
} chains SEC(".maps");

/* most nodes whose object cannot be read: the chain is none */
#define MOST_BLIND 64

/* words of a window, and a place among them */
#define CHAIN_WORDS (FT_CHAIN_WINDOW / 8)
_Static_assert(!(CHAIN_WORDS & (CHAIN_WORDS - 1)), "the places are masked");

/* A way along a chain. */
struct follow {
	struct ft_chain how;
	struct ft_chain_head head;     /* `rest` is the node that comes next */
	__u64 thread_pointer;          /* of a thread without a chain of its own */
	__u64 nodes;                   /* copied so far */
	__u64 blind;                   /* nodes whose object could not be read */
	__u64 end;                     /* of an array */
	__u64 window[2 * CHAIN_WORDS]; /* what was read last */
};

static __always_inline bool read_window(struct follow *follow, __u64 address, __u64 bytes)
{
	asm volatile("" : "+r"(bytes));
	return bytes <= FT_CHAIN_WINDOW && !READ_USER(follow, bytes, address);
}

/* the word of the window that lies `offset` behind what `from` is behind */
static __always_inline __u64 word_of(const struct follow *follow, __u16 offset, __u16 from)
{
	__u64 at = (__u16)(offset - from) / 8;

	asm volatile("" : "+r"(at));
	return follow->window[at & (CHAIN_WORDS - 1)];
}

static __always_inline bool read_word(struct follow *follow, __u64 *word, __u64 address)
{
	bool is_read = read_window(follow, address, sizeof(*word));

	*word = follow->window[0];
	return is_read;
}

/* Looks for the chain of a thread, or of its image; returns whether there is one. */
static __always_inline bool find_chain(struct follow *follow, const struct ft_head *of,
				       __u64 thread_pointer)
{
	struct ft_chain_key key = { .tid = of->tid, .image = of->image };
	struct ft_chain *how = bpf_map_lookup_elem(&chains, &key);

	follow->thread_pointer = 0;
	if (!how) {
		key.tid = FT_CHAIN_OF_IMAGE;
		how = thread_pointer ? bpf_map_lookup_elem(&chains, &key) : NULL;
		follow->thread_pointer = thread_pointer;
	}
	if (how)
		follow->how = *how;
	return how;
}

/* Begins at the first node, `how` that is known to be done; returns whether that could be read. */
static __always_inline bool follow_first(struct follow *follow)
{
	struct ft_chain *how = &follow->how;
	struct ft_chain_head *head = &follow->head;

	follow->nodes = follow->blind = 0;
	if (follow->thread_pointer &&
	    (!read_word(follow, &how->thread, how->thread + follow->thread_pointer) ||
	     !how->thread))
		return 0;
	head->thread = how->thread | (follow->thread_pointer ? FT_CHAIN_OWN : 0);
	head->lock[0] = head->lock[1] = 0;
	if (!read_word(follow, &head->identity, how->thread + how->identity) ||
	    !read_word(follow, &head->first, how->thread + how->first))
		return 0;
	head->rest = head->first;
	if (how->stride) {
		if (!read_window(follow, head->first, 16))
			return 0;
		follow->end = follow->window[0] + 8 * follow->window[1];
	}
	return how->through == FT_CHAIN_DIRECT ||
	       read_word(follow, &head->rest, head->first + how->through);
}

/* Reads the words of the lock; where they cannot be read they stay 0. */
static __always_inline void read_lock(struct follow *follow)
{
	if (follow->how.lock && read_window(follow, follow->how.lock, 16)) {
		follow->head.lock[0] = follow->window[0];
		follow->head.lock[1] = follow->window[1];
	}
}

/* environments around one another that are looked at */
#define MOST_ENVIRONMENTS 8
/* an environment is that of a method, and of no block; pointers to the one around it have these bits more */
#define ENVIRONMENT_LOCAL 2
#define ENVIRONMENT_TAGS  3ULL
/* kinds of objects in Ruby's flags: a special variable, which has what it stands for behind its flags, and a method */
#define RUBY_KIND    0xf01fULL
#define RUBY_SPECIAL 0x201aULL
#define RUBY_METHOD  0x601aULL

/* The flags of the environment at `address`, and the method that it belongs to, if it is one; returns whether the flags could be read. */
static __always_inline bool read_environment(struct follow *follow, __u64 address, __u64 *flags,
					     __u64 *method)
{
	__u64 found, around, is_local;

	*method = 0;
	for (int i = 0; i < MOST_ENVIRONMENTS; i++) {
		if (!read_window(follow, address - 16, 24))
			return i;
		found = follow->window[0];
		around = follow->window[1];
		is_local = follow->window[2] & ENVIRONMENT_LOCAL;
		if (!i)
			*flags = follow->window[2];
		if (found && read_window(follow, found, 16)) {
			if (is_local && (follow->window[0] & RUBY_KIND) == RUBY_SPECIAL) {
				found = follow->window[1];
				if (!found || !read_window(follow, found, 8))
					return 1;
			}
			if ((follow->window[0] & RUBY_KIND) == RUBY_METHOD) {
				*method = found;
				return 1;
			}
		}
		if (is_local)
			return 1;
		address = around & ~ENVIRONMENT_TAGS;
	}
	return 1;
}

/* Copies the node that comes next; returns whether that could be read. */
static __always_inline bool follow_next(struct follow *follow, struct ft_chain_node *node)
{
	const struct ft_chain *how = &follow->how;
	__u64 address = follow->head.rest, environment, method = 0;
	__u16 from = how->node_from;

	node->address = address;
	if (!read_window(follow, address + from, how->node_bytes))
		return 0;
	node->object = word_of(follow, how->object, from) & ~(__u64)how->tags;
	node->flags = word_of(follow, how->flags, from);
	node->place = word_of(follow, how->place, from);
	if (how->stride) {
		environment = word_of(follow, how->environment, from);
		if (!read_environment(follow, environment, &node->flags, &method))
			return 0;
		if (!node->object)
			node->object = method;
		follow->head.rest = address + how->stride;
		if (follow->head.rest >= follow->end)
			follow->head.rest = 0;
	} else {
		follow->head.rest = word_of(follow, how->next, from);
		if (follow->head.rest == address)
			return 0;
	}
	follow->nodes++;
	node->names[0] = 0;
	node->names[1] = method;
	if (!node->object)
		return 1;
	from = how->object_from;
	if (read_window(follow, node->object + from, how->object_bytes)) {
		node->names[0] = word_of(follow, how->names[0], from);
		if (!how->stride)
			node->names[1] = word_of(follow, how->names[1], from);
	}
	/* each read that fails is a fault, in an interrupt */
	if (!node->names[0] && !node->names[1] && ++follow->blind > MOST_BLIND) {
		follow->nodes--;
		return 0;
	}
	return 1;
}

#endif
