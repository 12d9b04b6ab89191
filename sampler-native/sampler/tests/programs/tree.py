# A tree of functions, in each of which time passes: the name of a function is that of its caller with one letter more, however it is
# called. Functions whose names begin otherwise may stand between. An argument chooses how they are called: from C and Python, by code
# that is compiled for one call, by numpy, or by tasks of asyncio that take turns.
import asyncio
import functools
import sys


def lazily(call, n):
    yield call(n)


async def slowly(call, n):
    await asyncio.sleep(0)
    yield await call(n)


class Within:
    def __init__(self, call, n):
        self.call, self.n = call, n

    async def __aenter__(self):
        return await self.call(self.n)

    async def __aexit__(self, *error):
        pass

    def __await__(self):
        return (yield from self.call(self.n).__await__())


SOURCE = """
{define} {name}(n):
    x = n
    for i in range(20):
        x = x * 31 % 1000003 + i % 7
    {calls}
    return x
"""
DEFINE, WAYS = {
    "": (
        "def",
        [
            "x += {name}(n)",
            "x += sorted([n], key={name})[0]",
            "x += functools.partial({name}, n)()",
            "x += sum(lazily({name}, n))",
            "x += sum({name}(m) for m in [n])",
            "x += list(map({name}, [n]))[0]",
        ],
    ),
    "cells": (
        "def",
        [
            "x += eval(compile('{name}(n)', f'cell {{x}}', 'eval'))",
            "exec(compile('{name}(3)', f'cell {{x}}', 'exec'), globals())",
        ],
    ),
    "numpy": (
        "def",
        [
            "x += int(numpy.frompyfunc({name}, 1, 1)(n))",
            "x += int(numpy.vectorize({name}, otypes=[int])(n))",
            "x += int(numpy.apply_along_axis(lambda row: {name}(int(row[0])), 0, numpy.array([n])))",
            "x += int(numpy.fromiter(({name}(m) for m in [n]), dtype=int)[0])",
            "x += int(numpy.fromfunction(lambda i: {name}(n), (1,)))",
            "x += int(numpy.linalg.eigvalsh(numpy.eye(8))[0]) + {name}(n)",
        ],
    ),
    "asyncio": (
        "async def",
        [
            "x += await {name}(n)",
            "x += [y async for y in slowly({name}, n)][0]",
            "async with Within({name}, n) as y: x += y",
            "x += await Within({name}, n)",
            "await asyncio.sleep(0); x += await {name}(n)",
        ],
    ),
}["".join(sys.argv[1:])]
if sys.argv[1:] == ["numpy"]:
    import numpy
way = 0


def grow(name, depth):
    global way
    calls = []
    for letter in "abc" if depth else "":
        way += 1
        calls.append(WAYS[way % len(WAYS)].format(name=name + letter))
        grow(name + letter, depth - 1)
    source = SOURCE.format(define=DEFINE, name=name, calls="\n    ".join(calls))
    exec(compile(source, "tree", "exec"), globals())


async def again():
    while True:
        await f(3)


async def tasks():
    await asyncio.gather(*(again() for _ in range(3)))


grow("f", 5)
if DEFINE == "async def":
    asyncio.run(tasks())
while True:
    f(3)
