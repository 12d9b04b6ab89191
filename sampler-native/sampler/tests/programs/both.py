# Two threads that are busy at the same time, each in functions of its own: both.py FILE writes their numbers.
import sys
import threading


def left(n):
    for i in range(n):
        n = n * 31 % 1000003 + i % 7
    return n


def keeps_left():
    while True:
        left(1000)


def right(n):
    for i in range(n):
        n = n * 29 % 1000003 + i % 5
    return n


def keeps_right():
    while True:
        right(1000)


threads = [threading.Thread(target=run, daemon=True) for run in (keeps_left, keeps_right)]
for thread in threads:
    thread.start()
with open(sys.argv[1], "w") as told:
    print(*(thread.native_id for thread in threads), file=told, flush=True)
for thread in threads:
    thread.join()
