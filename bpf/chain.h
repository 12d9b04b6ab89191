/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the frames are copied that an interpreter keeps outside of the stack: node by node of a chain, in the same moment as the stack.
 *
 * Whoever includes this file says with READ_USER(word, address) how a word of the task's memory is read; not 0: it cannot be.
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

/* A way along a chain. */
struct follow {
	struct ft_chain how;
	struct ft_chain_head head; /* `rest` is the node that comes next */
	__u64 nodes;               /* copied so far */
	__u64 blind;               /* nodes whose object could not be read */
};

/* Begins at the first node, `how` that is known to be done; returns whether that could be read. */
static __always_inline bool follow_first(struct follow *follow)
{
	const struct ft_chain *how = &follow->how;

	follow->nodes = follow->blind = 0;
	follow->head.thread = how->thread;
	if (READ_USER(&follow->head.identity, how->thread + how->identity) ||
	    READ_USER(&follow->head.first, how->thread + how->first))
		return 0;
	follow->head.rest = follow->head.first;
	return how->through == FT_CHAIN_DIRECT ||
	       !READ_USER(&follow->head.rest, follow->head.first + how->through);
}

/* Copies the node that comes next; returns whether that could be read. */
static __always_inline bool follow_next(struct follow *follow, struct ft_chain_node *node)
{
	const struct ft_chain *how = &follow->how;
	__u64 address = follow->head.rest;

	node->address = address;
	if (READ_USER(&node->object, address + how->object) ||
	    READ_USER(&node->flags, address + how->flags) ||
	    READ_USER(&node->place, address + how->place) ||
	    READ_USER(&follow->head.rest, address + how->next) || follow->head.rest == address)
		return 0;
	node->object &= ~(__u64)how->tags;
	follow->nodes++;
	if (!node->object) {
		node->names[0] = node->names[1] = 0;
		return 1;
	}
	if (READ_USER(&node->names[0], node->object + how->names[0]))
		node->names[0] = 0;
	if (READ_USER(&node->names[1], node->object + how->names[1]))
		node->names[1] = 0;
	/* each read that fails is a fault, in an interrupt */
	if (!node->names[0] && !node->names[1] && ++follow->blind > MOST_BLIND) {
		follow->nodes--;
		return 0;
	}
	return 1;
}

#endif
