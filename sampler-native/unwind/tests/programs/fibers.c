/* A function asleep on a stack of its own, which is entered in one of several ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
static volatile int sink;

static KEEP void asleep(void)
{
	puts("ready");
	fflush(stdout);
	pause();
	sink++;
}

static KEEP void inside(void)
{
	asleep();
	sink++;
}

static void entry(void)
{
	inside();
	for (;;)
		pause();
}

/* What a fiber's function would return to. */
static KEEP void crash(void)
{
	abort();
}

/* Sets the stack pointer, and goes on at an address that takes it for a function's. */
static void run(void *sp, void (*code)(void))
{
	__asm__ volatile("mov %0, %%rsp\n\txor %%ebp, %%ebp\n\tjmp *%1" : : "r"(sp), "r"(code));
}

#ifdef BOOST
struct transfer {
	void *context;
	void *data;
};
extern void *make_fcontext(void *sp, size_t size, void (*code)(struct transfer));
extern struct transfer jump_fcontext(void *to, void *data);

static void boost_entry(struct transfer from)
{
	inside();
	jump_fcontext(from.context, NULL);
}
#endif

int main(int argc, char **argv)
{
	const size_t size = 64 << 10;
	char *stack = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	char *how = argc > 1 ? argv[1] : "";
	void **top = (void **)(stack + size);

	/* Not one mapping with what is above. */
	mprotect(stack + size, size, PROT_NONE);
	if (!strcmp(how, "heap"))
		top = (void **)((char *)malloc(2 * size) + size);
	if (!strcmp(how, "ucontext")) {
		static ucontext_t fiber, back;

		getcontext(&fiber);
		fiber.uc_stack.ss_sp = stack;
		fiber.uc_stack.ss_size = size;
		fiber.uc_link = &back;
		makecontext(&fiber, entry, 0);
		swapcontext(&back, &fiber);
	} else if (!strcmp(how, "zero") || !strcmp(how, "heap")) {
		*--top = NULL;
		*--top = NULL;
		run(top, entry);
	} else if (!strcmp(how, "function")) {
		*--top = NULL;
		*--top = (void *)crash;
		run(top, entry);
	} else if (!strcmp(how, "top")) {
		run(top, entry);
#ifdef BOOST
	} else {
		jump_fcontext(make_fcontext(top, size, boost_entry), NULL);
#endif
	}
	return sink;
}
