/* Stack frames whose size or alignment is known only at run time. */
#include <alloca.h>
#include <immintrin.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
static volatile int sink;
static volatile int count = 33;

static KEEP int asleep(void)
{
	puts("ready");
	fflush(stdout);
	pause();
	return sink;
}

static KEEP int aligned(int n)
{
	__attribute__((aligned(64))) volatile char bytes[128];
	__m256 sum = _mm256_set1_ps((float)n);
	bytes[0] = (char)n;
	int result = asleep();
	sum = _mm256_add_ps(sum, sum);
	return result + bytes[0] + (int)_mm256_cvtss_f32(sum);
}

static KEEP int variable(int n)
{
	volatile char bytes[n];
	bytes[n - 1] = 1;
	return aligned(n) + bytes[n - 1];
}

static KEEP int allocated(int n)
{
	char *bytes = alloca((size_t)n);
	memset(bytes, n, (size_t)n);
	return variable(n) + bytes[n / 2] + sink;
}

static KEEP int both(int n)
{
	__attribute__((aligned(128))) volatile char bytes[256];
	char *more = alloca((size_t)n * 3);
	memset(more, n, (size_t)n);
	bytes[1] = more[2];
	return allocated(n) + bytes[1] + more[n / 2];
}

int main(void)
{
	return both(count) + sink;
}
