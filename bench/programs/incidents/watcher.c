// SPDX-License-Identifier: Apache-2.0
// watcher: asks the kernel for a hundred files, of which most are not there, again and again.
#include <stdio.h>
#include <sys/stat.h>
#include "incident.h"

static char paths[100][64];

APART void scan_folders(void)
{
	struct stat status;

	for (int i = 0; i < 100; i++)
		sink += (unsigned long)stat(paths[i], &status);
	STAYS();
}

int main(void)
{
	alarm(LIFE);
	for (int i = 0; i < 100; i++)
		snprintf(paths[i], sizeof(paths[i]), i % 4 ? "/usr/lib/watched/%d" : "/usr/lib", i);
	for (;;)
		scan_folders();
}
