// SPDX-License-Identifier: Apache-2.0
// thumbs: takes 16 MiB from the kernel for each picture, fills it, and gives it back.
#define _GNU_SOURCE
#include <sys/mman.h>
#include "incident.h"

#define BYTES (16L << 20)

APART void fill_picture(char *picture)
{
	for (long at = 0; at < BYTES; at += 4096)
		picture[at] = 1;
	STAYS();
}

APART void scale_picture(void)
{
	char *picture = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);

	if (picture == MAP_FAILED)
		exit(1);
	madvise(picture, BYTES, MADV_NOHUGEPAGE);
	fill_picture(picture);
	munmap(picture, BYTES);
	STAYS();
}

int main(void)
{
	alarm(LIFE);
	for (;;)
		scale_picture();
}
