# A thread that keeps the interpreter's lock while it sleeps, one that waits for this lock meanwhile, and one that waits for a lock of its
# own: gil.py FILE writes their numbers.
import ctypes
import sys
import threading

c = ctypes.PyDLL(None)
mine = threading.Lock()
mine.acquire()


def keeps():
    while True:
        c.usleep(300_000)


def wants():
    while True:
        pass


def rests():
    mine.acquire()


threads = [threading.Thread(target=run, daemon=True) for run in (keeps, wants, rests)]
for thread in threads:
    thread.start()
with open(sys.argv[1], "w") as told:
    print(*(thread.native_id for thread in threads), file=told, flush=True)
for thread in threads:
    thread.join()
