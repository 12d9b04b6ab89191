// SPDX-License-Identifier: Apache-2.0
// nightly SECONDS: burns CPU for so long, and ends.
#include "incident.h"

APART void pack_archive(double ms)
{
	burn_ms(ms);
	STAYS();
}

int main(int argc, char **argv)
{
	alarm(LIFE);
	pack_archive(1000 * (argc > 1 ? atof(argv[1]) : 6));
	return 0;
}
