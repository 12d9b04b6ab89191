// SPDX-License-Identifier: Apache-2.0
// journal FILE: appends records of 4 KiB to a file and has each of them written to the disk.
#include <fcntl.h>
#include "incident.h"

APART void append_record(int file)
{
	static char record[4096];

	if (write(file, record, sizeof(record)) < 0 || fsync(file))
		exit(1);
	STAYS();
}

int main(int argc, char **argv)
{
	int file = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

	alarm(LIFE);
	if (file < 0)
		return 1;
	for (int i = 0;; i++) {
		append_record(file);
		if (i % 4096 == 0)
			lseek(file, 0, SEEK_SET);
	}
}
