# ask.py SOCKET: sets and gets of a memcached, for ever.
import socket
import sys

peer = socket.socket(socket.AF_UNIX)
peer.connect(sys.argv[1])
commands = b"".join(b"set k%d 0 0 100\r\n%s\r\nget k%d\r\n" % (i, b"x" * 100, i * 7 % 100) for i in range(100))
while True:
    peer.sendall(commands)
    read = b""
    while read.count(b"STORED\r\n") < 100 or not read.endswith(b"END\r\n"):
        read += peer.recv(1 << 16)
