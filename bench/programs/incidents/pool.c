// SPDX-License-Identifier: Apache-2.0
// pool: two hundred threads that wait for jobs, and one, reporter, that works for 20 ms of each 200 ms.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include "incident.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs = PTHREAD_COND_INITIALIZER;

APART void take_job(void)
{
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&jobs, &lock);
}

static void *wait_for_jobs(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "pool-%ld", (long)arg);
	pthread_setname_np(pthread_self(), name);
	take_job();
	return NULL;
}

APART void render_report(void)
{
	burn_ms(20);
	STAYS();
}

static void *report(void *arg)
{
	pthread_setname_np(pthread_self(), "reporter");
	for (;;) {
		render_report();
		sleep_ms(180);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	alarm(LIFE);
	for (long i = 1; i <= 200; i++)
		pthread_create(&thread, NULL, wait_for_jobs, (void *)i);
	pthread_create(&thread, NULL, report, NULL);
	pthread_join(thread, NULL);
	return 0;
}
