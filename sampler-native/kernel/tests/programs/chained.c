/*
 * A chain of three nodes, as an interpreter keeps its frames. `chained KIND [busy]` prints its tid, the addresses of what leads to the chain
 * and of the nodes and of the objects, then `ready`; it naps, or is on the CPU, and ends with its stdin or after a minute. KIND is
 * `whole`; `next` or `object`: such a pointer of the second node leads into the kernel's half of the addresses; `tagged`: pointers to
 * objects have two bits more.
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
	uint64_t object, next, flags, place;
};

static struct object objects[3] = { { 1, { 10, 11 } }, { 2, { 20, 21 } }, { 3, { 30, 31 } } };
static struct node nodes[3];
static struct {
	uint64_t identity, first;
} thread = { 4711, 0 };

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
	printf("%ld %lu", syscall(SYS_gettid), (uint64_t)&thread);
	for (int i = 0; i < 3; i++)
		printf(" %lu %lu", (uint64_t)&nodes[i], (uint64_t)&objects[i]);
	printf("\nready\n");
	fflush(stdout);
	while (time(NULL) - begin < 60 && poll(&in, 1, argc > 2 ? 0 : 20) == 0)
		;
	return 0;
}
