// SPDX-License-Identifier: Apache-2.0
// metrics PORT: sends small packets to that port of its own machine, as fast as it can. Called collector, it receives them.
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include "incident.h"

APART void send_metric(int connection)
{
	sink += (unsigned long)send(connection, "metric", 6, 0);
	STAYS();
}

APART void read_metric(int connection)
{
	char metric[64];

	sink += (unsigned long)recv(connection, metric, sizeof(metric), 0);
	STAYS();
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((unsigned short)(argc > 1 ? atoi(argv[1]) : 0)),
	};
	int connection = socket(AF_INET, SOCK_DGRAM, 0);

	alarm(LIFE);
	if (strcmp(name ? name + 1 : argv[0], "collector") == 0) {
		if (bind(connection, (struct sockaddr *)&address, sizeof(address)))
			return 1;
		for (;;)
			read_metric(connection);
	}
	if (connect(connection, (struct sockaddr *)&address, sizeof(address)))
		return 1;
	for (;;)
		send_metric(connection);
}
