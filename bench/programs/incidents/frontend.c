// SPDX-License-Identifier: Apache-2.0
// frontend: twenty threads, worker-1 to worker-20, that wait for requests; worker-13 reads the end of a header without end.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include "incident.h"

static int epoll;

APART void next_request(void)
{
	struct epoll_event event;

	epoll_wait(epoll, &event, 1, -1);
	STAYS();
}

APART void parse_header(void)
{
	for (;;)
		sink++;
}

static void *work(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "worker-%ld", (long)arg);
	pthread_setname_np(pthread_self(), name);
	for (;;) {
		if ((long)arg == 13)
			parse_header();
		next_request();
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;

	alarm(LIFE);
	epoll = epoll_create1(0);
	for (long i = 1; i <= 20; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	pthread_join(thread, NULL);
	return 0;
}
