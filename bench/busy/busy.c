/* SPDX-License-Identifier: Apache-2.0 */
/* Busy in middle and leaf, and in malloc, qsort and snprintf of its libc, so that those are seen too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __attribute__((noinline, noclone))

static volatile unsigned long sum;

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

KEEP static unsigned long leaf(int n)
{
	unsigned long x = n;
	int numbers[100];
	char text[64];

	for (int i = 0; i < 100; i++)
		numbers[i] = (int)((x = x * 31 + i % 7) % 1009);
	qsort(numbers, 100, sizeof(numbers[0]), compare);
	for (int i = 0; i < 20; i++) {
		char *room = malloc(16 + numbers[i]);

		if (!room)
			abort();
		memset(room, i, 16 + numbers[i]);
		x += room[7];
		free(room);
	}
	x += snprintf(text, sizeof(text), "%lu %d", x, numbers[50]);
	return n == 0 ? x : x + leaf(n - 1);
}

KEEP static unsigned long middle(void)
{
	return leaf(5) + leaf(4);
}

int main(void)
{
	for (;;)
		sum += middle();
}
