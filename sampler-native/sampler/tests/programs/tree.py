# A tree of functions, in each of which time passes: the name of a function is that of its caller with one letter more, however it is
# called. Functions whose names begin otherwise may stand between.
import functools


def lazily(call, n):
    yield call(n)


SOURCE = """
def {name}(n):
    x = n
    for i in range(20):
        x = x * 31 % 1000003 + i % 7
    {calls}
    return x
"""
WAYS = [
    "x += {name}(n)",
    "x += sorted([n], key={name})[0]",
    "x += functools.partial({name}, n)()",
    "x += sum(lazily({name}, n))",
    "x += sum({name}(m) for m in [n])",
    "x += list(map({name}, [n]))[0]",
]
way = 0


def grow(name, depth):
    global way
    calls = []
    for letter in "abc" if depth else "":
        way += 1
        calls.append(WAYS[way % len(WAYS)].format(name=name + letter))
        grow(name + letter, depth - 1)
    source = SOURCE.format(name=name, calls="\n    ".join(calls))
    exec(compile(source, "tree", "exec"), globals())


grow("f", 5)
while True:
    f(3)
