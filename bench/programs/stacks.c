// SPDX-License-Identifier: Apache-2.0
/*
 * Writes files of folded stacks to stdout, always the same ones.
 *
 *   stacks sorted N     a call tree of N nodes (1,000,008: 1 GB), neighbouring lines alike
 *   stacks shuffled N   the same lines in no order
 *   stacks changed N    the same with other numbers, a tenth of the lines left out
 *   stacks wide N       one frame with N children
 *   stacks deep N       one stack of N frames
 *   stacks hostile N    N lines, each of them wrong or harmful in its own way
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEVELS = 28,
	NAMES = 20000,
	LONGEST = 96
};

static uint64_t seed = 88172645463325252ull;

static uint32_t below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 16) % n);
}

static char names[NAMES][LONGEST];

static void make_names(void)
{
	static const char *const part[] = { "std",     "net",    "io",     "detail",  "Session",
					    "Request", "Buffer", "Index",  "Page",    "Writer",
					    "Reader",  "flush",  "append", "resolve", "commit",
					    "lookup",  "decode", "encode", "visit",   "apply" };
	for (int i = 0; i < NAMES; i++) {
		int length = 0;
		int words = 3 + (int)below(4);
		for (int w = 0; w < words; w++)
			length += snprintf(names[i] + length, LONGEST - (size_t)length,
					   "%s::", part[below(20)]);
		snprintf(names[i] + length, LONGEST - (size_t)length, "f%d(int)", i);
	}
}

/* The tree: a tenth of the nodes on levels of equal size, the others leaves below the last ones. */
static uint32_t *parent, *name, *first, *sibling;

static void make_tree(uint32_t n)
{
	parent = calloc(n, sizeof(*parent));
	name = calloc(n, sizeof(*name));
	first = calloc(n, sizeof(*first));
	sibling = calloc(n, sizeof(*sibling));
	if (!parent || !name || !first || !sibling)
		exit(1);
	uint32_t inner = n / 10;
	uint32_t level = inner / LEVELS;
	for (uint32_t i = 1; i < n; i++) {
		uint32_t at = i < inner ? (i - 1) / level : LEVELS;
		if (i < inner && at > LEVELS - 1)
			at = LEVELS - 1;
		uint32_t above = i < inner ? at : LEVELS - 4 + below(4);
		parent[i] = above == 0 ? 0 : 1 + (above - 1) * level + below(level);
		/* No two children of a node have one name. */
		name[i] = (parent[i] * 7919u + i) % NAMES;
		sibling[i] = first[parent[i]];
		first[parent[i]] = i;
	}
}

static void line(uint32_t node, uint32_t count)
{
	uint32_t path[LEVELS + 2];
	int depth = 0;
	for (uint32_t n = node; n; n = parent[n])
		path[depth++] = n;
	while (depth--) {
		fputs_unlocked(names[name[path[depth]]], stdout);
		putchar_unlocked(depth ? ';' : ' ');
	}
	printf("%u\n", count);
}

static void tree(const char *mode, uint32_t n)
{
	make_names();
	make_tree(n);
	uint32_t *leaf = calloc(n, sizeof(*leaf));
	uint32_t leaves = 0;
	if (!leaf)
		exit(1);
	/* Depth first. */
	for (uint32_t at = first[0]; at;) {
		if (!first[at])
			leaf[leaves++] = at;
		uint32_t next = first[at];
		while (!next && at) {
			next = sibling[at];
			if (!next)
				at = parent[at];
		}
		at = next;
	}
	if (!strcmp(mode, "shuffled"))
		for (uint32_t i = leaves - 1; i > 0; i--) {
			uint32_t other = below(i + 1), kept = leaf[i];
			leaf[i] = leaf[other];
			leaf[other] = kept;
		}
	int changed = !strcmp(mode, "changed");
	for (uint32_t i = 0; i < leaves; i++)
		if (!changed || below(10))
			line(leaf[i], 1 + (changed ? below(150) : leaf[i] * 2654435761u >> 25));
}

static void hostile(uint32_t n)
{
	static const char *const lines[] = {
		"main;\x1b]0;owned\x07;\x1b[31mred 12",
		"main;\xc2\x9b"
		"31mcsi;\xe2\x80\xae"
		"bidi 7",
		"main;bad\xff\xfeutf8;cut\xe2\x82 9",
		"main;operator;();a<b, c>::d(e f) 3",
		"no number",
		"99999999999999999999999999 99999999999999999999999999",
		" 12",
		"",
		";;; 4",
		"main;crlf 5\r",
		"main;\tt a b\t 6",
		"# a comment 12",
		"main;nothing 0",
		"main;negative -5",
		"main;parts 2.75",
	};
	for (uint32_t i = 0; i < n; i++)
		puts(lines[i % (sizeof(lines) / sizeof(*lines))]);
	fputs("main;no line end 8", stdout);
}

int main(int argc, char **argv)
{
	uint32_t n = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	static char buffer[1 << 20];
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	if (n && (!strcmp(argv[1], "sorted") || !strcmp(argv[1], "shuffled") ||
		  !strcmp(argv[1], "changed"))) {
		if (n < 1000)
			return 2;
		tree(argv[1], n);
	} else if (n && !strcmp(argv[1], "wide")) {
		for (uint32_t i = 0; i < n; i++)
			printf("main;child%05u %u\n", i, 1 + i % 100);
	} else if (n && !strcmp(argv[1], "deep")) {
		for (uint32_t i = 0; i < n; i++)
			printf("%sframe%u", i ? ";" : "", i);
		puts(" 1");
	} else if (n && !strcmp(argv[1], "hostile")) {
		hostile(n);
	} else {
		fprintf(stderr, "stacks sorted|shuffled|changed|wide|deep|hostile N\n");
		return 2;
	}
	return fflush(stdout) != 0;
}
