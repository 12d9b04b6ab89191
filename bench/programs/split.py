# SPDX-License-Identifier: Apache-2.0
# Spends 70 % of its CPU time in hot and 30 % in cold, by the thread's own clock.
from time import thread_time_ns as clock


def hot(nanoseconds):
    end = clock() + nanoseconds
    x = 0
    while clock() < end:
        for i in range(1000):
            x = (x * 31 + i % 7) % 1000003


def cold(nanoseconds):
    end = clock() + nanoseconds
    x = 0
    while clock() < end:
        for i in range(1000):
            x = (x * 31 + i % 7) % 1000003


# Time that a turn takes too much is missing from the next turn.
parts = [[hot, 7_000_000, 0], [cold, 3_000_000, 0]]
while True:
    for part in parts:
        call, due, over = part
        begin = clock()
        call(max(0, due - over))
        part[2] += clock() - begin - due
