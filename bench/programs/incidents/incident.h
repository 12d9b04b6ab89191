// SPDX-License-Identifier: Apache-2.0
// What the programs of bench/incidents have in common. Each of them ends by itself after a minute.
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define LIFE  60
#define APART __attribute__((noinline))

static volatile unsigned long sink;

// A call in the last place of a function would be a jump, and the function missing on the stack.
#define STAYS() (sink++)

static inline double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Of the calling thread, of its time on a CPU.
static inline __attribute__((always_inline)) void burn_ms(double ms)
{
	double end = seconds(CLOCK_THREAD_CPUTIME_ID) + ms / 1000;

	while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			sink += (unsigned long)i;
}

static inline void sleep_ms(double ms)
{
	struct timespec t = { (time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000L };

	nanosleep(&t, NULL);
}

// In the child of a fork: it ends with its parent.
static inline void end_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIFE);
}
