// Asleep in a virtual function, called while an exception is handled and another object is torn down.
#include <cstdio>
#include <stdexcept>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
static volatile int sink;

struct Base {
	virtual ~Base() {}
	virtual int run(int n) = 0;
};

struct Sleeper : Base {
	KEEP int run(int n) override
	{
		std::puts("ready");
		std::fflush(stdout);
		pause();
		return sink + n;
	}
};

struct Guard {
	Base &base;
	KEEP ~Guard() { sink = base.run(1) + sink; }
};

extern "C" KEEP int thrower(int n)
{
	if (n >= 0)
		throw std::runtime_error("thrown");
	return n;
}

extern "C" KEEP int catcher(Base &base)
{
	try {
		return thrower(sink);
	} catch (const std::exception &) {
		Guard guard{base};
		sink++;
	}
	return sink;
}

int main()
{
	Sleeper sleeper;
	return catcher(sleeper);
}
