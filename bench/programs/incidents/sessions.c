// SPDX-License-Identifier: Apache-2.0
// sessions: eight threads, client-1 to client-8, that look up sessions below one lock, which the thread janitor has for 50 ms of each 60 ms.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include "incident.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

APART void get_session(void)
{
	pthread_mutex_lock(&lock);
	burn_ms(0.05);
	pthread_mutex_unlock(&lock);
	STAYS();
}

static void *serve(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "client-%ld", (long)arg);
	pthread_setname_np(pthread_self(), name);
	for (;;) {
		get_session();
		sleep_ms(1);
	}
	return NULL;
}

APART void expire_sessions(void)
{
	pthread_mutex_lock(&lock);
	burn_ms(50);
	pthread_mutex_unlock(&lock);
	STAYS();
}

static void *clean(void *arg)
{
	pthread_setname_np(pthread_self(), "janitor");
	for (;;) {
		expire_sessions();
		sleep_ms(10);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	alarm(LIFE);
	for (long i = 1; i <= 8; i++)
		pthread_create(&thread, NULL, serve, (void *)i);
	pthread_create(&thread, NULL, clean, NULL);
	pthread_join(thread, NULL);
	return 0;
}
