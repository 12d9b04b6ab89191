/*
 * A chain of three nodes, as an interpreter keeps its frames. `chained KIND [busy]` prints its tid, the addresses of what leads to the chain
 * and of the nodes and of the objects, how far from the thread pointer a word has the first of these addresses, then `ready`; it naps, or is on the CPU, and ends with its stdin or after a minute. KIND is
 * `whole`; `next` or `object`: such a pointer of the second node leads into the kernel's half of the addresses; `tagged`: pointers to
 * objects have two bits more. `array` has the nodes as Ruby has its frames: one behind the other, each with an environment, of which
 * the first node's is that of a block within the second one's, and the third node has no object but that of its environment. `environment`:
 * that of the second node leads into the kernel's half.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KERNEL 0xffff888000001000UL

struct object {
	uint64_t type, names[2];
};
struct node {
	uint64_t object, next, flags, place, environment;
};
/* what it belongs to, the environment around it, flags */
struct environment {
	uint64_t method, around, flags;
};

/* kinds of Ruby's objects: a special variable, which stands for what is behind it, and a method */
#define SPECIAL 0x201aUL
#define METHOD  0x601aUL
/* flags of an environment that is that of a method */
#define LOCAL 2UL

static struct object objects[3] = { { 1, { 10, 11 } }, { 2, { 20, 21 } }, { 3, { 30, 31 } } };
static struct node nodes[3];
static struct {
	uint64_t identity, first;
} thread = { 4711, 0 };
/* of an array: its address, how many words it has, and its first node */
static struct {
	uint64_t array, words, first;
} context;
static struct {
	uint64_t flags, names[2];
} methods[2] = { { METHOD, { 40, 41 } }, { METHOD, { 50, 51 } } };
static uint64_t special[2] = { SPECIAL, 0 };
static struct environment environments[3];
static __thread void *own;

static void make_array(const char *kind)
{
	context.array = context.first = (uint64_t)&nodes[0];
	context.words = sizeof(nodes) / 8;
	thread.first = (uint64_t)&context;
	special[1] = (uint64_t)&methods[0];
	environments[0] = (struct environment){ 0, (uint64_t)&environments[1].flags | 3, 300 };
	environments[1] = (struct environment){ (uint64_t)special, 0, 400 | LOCAL };
	environments[2] = (struct environment){ (uint64_t)&methods[1], 0, 500 | LOCAL };
	for (int i = 0; i < 3; i++)
		nodes[i].environment = (uint64_t)&environments[i].flags;
	nodes[2].object = 0;
	if (!strcmp(kind, "environment"))
		nodes[1].environment = KERNEL;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	time_t begin = time(NULL);
	struct pollfd in = { .fd = 0, .events = POLLIN };

	thread.first = (uint64_t)&nodes[0];
	for (int i = 0; i < 3; i++) {
		nodes[i].object = (uint64_t)&objects[i] | (strcmp(kind, "tagged") ? 0 : 3);
		nodes[i].next = i < 2 ? (uint64_t)&nodes[i + 1] : 0;
		nodes[i].flags = 100 + i;
		nodes[i].place = 200 + i;
	}
	if (!strcmp(kind, "next"))
		nodes[1].next = KERNEL;
	if (!strcmp(kind, "object"))
		nodes[1].object = KERNEL;
	if (!strcmp(kind, "array") || !strcmp(kind, "environment"))
		make_array(kind);
	printf("%ld %lu", syscall(SYS_gettid), (uint64_t)&thread);
	for (int i = 0; i < 3; i++)
		printf(" %lu %lu", (uint64_t)&nodes[i], (uint64_t)&objects[i]);
	own = &thread;
	printf(" %lu", (uint64_t)&own - (uint64_t)__builtin_thread_pointer());
	printf(" %lu %lu %lu", (uint64_t)&context, (uint64_t)&methods[0], (uint64_t)&methods[1]);
	printf("\nready\n");
	fflush(stdout);
	while (time(NULL) - begin < 60 && poll(&in, 1, argc > 2 ? 0 : 20) == 0)
		;
	return 0;
}
