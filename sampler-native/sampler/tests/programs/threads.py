# One thread after another, each of which runs for 15 ms.
import threading
import time


def inner():
    x = 1
    for i in range(2000):
        x = x * 31 % 1000003 + i % 7
    return x


def outer():
    end = time.perf_counter() + 0.015
    while time.perf_counter() < end:
        inner()


while True:
    thread = threading.Thread(target=outer)
    thread.start()
    thread.join()
