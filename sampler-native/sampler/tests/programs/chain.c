/* A chain of ten functions below main; built without frame pointers. `sleep`: asleep in libc at the end of it, `spin`: busy there. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static volatile unsigned long sink;
static int spins;

KEEP static int chain_10(int n)
{
	if (spins)
		for (;;)
			sink += n;
	struct timespec forever = { .tv_sec = 1000000 };
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &forever, NULL) + n;
}

#define LINK(from, to)                         \
	KEEP static int from(int n)            \
	{                                      \
		char room[100 + n];            \
		memset(room, n, sizeof(room)); \
		int r = to(n + 1);             \
		sink += room[r & 7];           \
		return r + 1;                  \
	}

LINK(chain_9, chain_10)
LINK(chain_8, chain_9)
LINK(chain_7, chain_8)
LINK(chain_6, chain_7)
LINK(chain_5, chain_6)
LINK(chain_4, chain_5)
LINK(chain_3, chain_4)
LINK(chain_2, chain_3)
LINK(chain_1, chain_2)

int main(int argc, char **argv)
{
	spins = argc > 1 && !strcmp(argv[1], "spin");
	return chain_1(argc);
}
