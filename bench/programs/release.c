// SPDX-License-Identifier: Apache-2.0
// release SECONDS: burns CPU in steady() and, three times as much, in older(); from SIGUSR1 on in newer() instead of that.
// Like a service before and after it was started anew with other code.
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;
static volatile sig_atomic_t released;

static void on_signal(int number)
{
	released = number;
}

static void burn(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink = sink * 6364136223846793005ul + i;
}

__attribute__((noinline)) void steady(void)
{
	burn(100000);
	sink++;
}

__attribute__((noinline)) void older(void)
{
	burn(300000);
	sink++;
}

__attribute__((noinline)) void newer(void)
{
	burn(300000);
	sink++;
}

__attribute__((noinline)) void serve(void)
{
	steady();
	if (released)
		newer();
	else
		older();
	sink++;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 60);
	signal(SIGUSR1, on_signal);
	while (time(NULL) < end)
		serve();
	return 0;
}
