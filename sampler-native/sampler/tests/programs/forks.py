# A process and its fork, each busy in a function of its own, and in the fork a thread that sleeps for a millisecond again and again.
import os
import threading
import time


def spin(n):
    for i in range(n):
        n = n * 31 % 1000003 + i % 7
    return n


def parent():
    while True:
        spin(1000)
        time.sleep(0.001)


def child(parent):
    while os.getppid() == parent:
        spin(1000)
        time.sleep(0.001)


def naps():
    while True:
        time.sleep(0.001)


spin(100000)
own = os.getpid()
if os.fork() == 0:
    threading.Thread(target=naps, daemon=True).start()
    child(own)
    os._exit(0)
parent()
