// SPDX-License-Identifier: Apache-2.0
// orders: twelve processes that want to update the same row, and one that has the row's lock nearly all of the time: it works a fifth of it
// and sleeps else. The lock is a mutex in memory that all of them share.
#include <pthread.h>
#include <sys/mman.h>
#include "incident.h"

static pthread_mutex_t *row;

APART void lock_row(void)
{
	pthread_mutex_lock(row);
	STAYS();
}

APART void update_row(void)
{
	lock_row();
	burn_ms(0.1);
	pthread_mutex_unlock(row);
	STAYS();
}

APART void rewrite_table(void)
{
	for (int i = 0; i < 20; i++) {
		burn_ms(20);
		sleep_ms(80);
	}
	STAYS();
}

APART void vacuum_table(void)
{
	lock_row();
	rewrite_table();
	pthread_mutex_unlock(row);
	STAYS();
}

int main(void)
{
	pthread_mutexattr_t shared;

	alarm(LIFE);
	row = mmap(NULL, sizeof(*row), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (row == MAP_FAILED)
		return 1;
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(row, &shared);
	for (int i = 0; i < 13; i++) {
		if (fork())
			continue;
		end_with_parent();
		if (i)
			sleep_ms(100);
		for (;;) {
			if (i == 0)
				vacuum_table();
			else
				update_row();
			sleep_ms(1);
		}
	}
	for (;;)
		pause();
}
