// SPDX-License-Identifier: Apache-2.0
// agent PROBE: starts the program PROBE, waits for its end, and does so again. Called probe itself, it works for a millisecond.
#include <string.h>
#include <sys/wait.h>
#include "incident.h"

APART void read_sensor(void)
{
	burn_ms(1);
	STAYS();
}

APART void start_probe(const char *probe)
{
	pid_t child = fork();

	if (child == 0) {
		end_with_parent();
		execl(probe, probe, (char *)NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	STAYS();
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');

	if (strcmp(name ? name + 1 : argv[0], "probe") == 0) {
		read_sensor();
		return 0;
	}
	if (argc != 2)
		return 2;
	alarm(LIFE);
	for (;;)
		start_probe(argv[1]);
}
