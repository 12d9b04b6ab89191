/* More frames than anybody wants to see. */
#include <stdio.h>
#include <unistd.h>

static volatile int sink;

static __attribute__((noinline, noclone)) int deeper(int n)
{
	if (n > 2000) {
		puts("ready");
		fflush(stdout);
		pause();
		return sink;
	}
	return deeper(n + 1) + sink;
}

int main(void)
{
	return deeper(0);
}
