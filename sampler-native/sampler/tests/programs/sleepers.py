# Threads that sleep in known places: sleepers.py FILE writes for each its number and its functions, the innermost first, each with file and
# line.
import asyncio
import ctypes
import functools
import json
import sys
import threading
import time

told = open(sys.argv[1], "w")
lock = threading.Lock()


def tell():
    frame, places = sys._getframe(1), []
    while frame:
        code = frame.f_code
        # Before 3.11 an object has no other name.
        name = getattr(code, "co_qualname", code.co_name)
        places.append(f"{name} {code.co_filename}:{frame.f_lineno or 0}")
        frame = frame.f_back
    with lock:
        print(threading.get_native_id(), *places, sep="\t", file=told, flush=True)
    return 1000


def rest(*_):
    time.sleep(tell())


def over_lines(n):
    return [
        # The call is not on the first line of its expression.
        n,
        rest(n)
        or n,
    ]


def deep(n):
    return deep(n - 1) if n else rest()


def lazily():
    yield 1
    rest()
    yield 2


class Sorter:
    def key(self, value):
        return rest()

    def sort(self):
        return sorted([1, 2], key=self.key)

    def __lt__(self, other):
        return rest()


class Callable:
    def __call__(self):
        return [f() for f in [lambda: rest()]]


async def awaits():
    async def inner():
        rest()

    await inner()


def by_send():
    try:
        awaits().send(None)
    except StopIteration:
        pass


def partly():
    functools.partial(Sorter().sort)()


def by_json():
    json.loads('{"a": 1}', object_hook=rest)


def by_repr():
    class Shown:
        def __repr__(self):
            rest()

    repr([{"a": Shown()}])


def by_compare():
    return min([Sorter(), Sorter()])


def called_by_c():
    rest()
    return 0


def by_ctypes():
    ctypes.CFUNCTYPE(ctypes.c_int)(called_by_c)()


def by_reduce():
    functools.reduce(lambda *_: rest(), [1, 2])


def by_asyncio():
    async def outer():
        return await inner()

    async def inner():
        async for x in lots():
            rest(x)

    async def lots():
        await asyncio.sleep(0)
        yield 1

    asyncio.run(outer())


ways = [
    rest,
    by_ctypes,
    by_reduce,
    by_asyncio,
    lambda: over_lines(1),
    lambda: deep(60),
    lambda: deep(300),
    lambda: list(lazily()),
    lambda: sum(x for x in lazily()),
    partly,
    Callable(),
    by_send,
    by_json,
    by_repr,
    by_compare,
    lambda: list(map(rest, [1])),
    lambda: exec("rest()"),
    lambda: next(zip(lazily(), (rest() for _ in [1]))),
]
for way in ways:
    threading.Thread(target=way, daemon=True).start()
deep(3)
