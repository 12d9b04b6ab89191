// SPDX-License-Identifier: Apache-2.0
// shop: serves a request each 20 ms: 2 ms in render_page(), 1 ms in price_cart(); from SIGUSR1 on, as after a deploy, 6 ms in price_cart().
#include "incident.h"

static volatile sig_atomic_t deployed;

static void on_signal(int number)
{
	deployed = number;
}

APART void render_page(void)
{
	burn_ms(2);
	STAYS();
}

APART void price_cart(void)
{
	burn_ms(deployed ? 6 : 1);
	STAYS();
}

APART void serve_request(void)
{
	render_page();
	price_cart();
	STAYS();
}

int main(void)
{
	struct timespec next;

	alarm(LIFE);
	signal(SIGUSR1, on_signal);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		serve_request();
		next.tv_nsec += 20000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}
