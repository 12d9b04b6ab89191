/* A library that works for 1 ms, some way below the function that is called. */
#include <time.h>

__attribute__((noinline)) static double work(void)
{
	struct timespec begin, now;
	volatile double sum = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (int i = 0; i < 1000; i++)
			sum += i;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000l + now.tv_nsec - begin.tv_nsec < 1000000);
	return sum;
}

void turn(void)
{
	volatile double sum = work();
	(void)sum;
}
