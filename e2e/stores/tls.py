# A store behind a name and a certificate: answers each question for an address with 127.0.0.1 (port 53), and takes every profile by
# https (port 4443). Writes "ready" to FOLDER/ready, and a line "HOST BYTES" for each profile to FOLDER/taken.
#
#   tls.py FOLDER        with FOLDER/cert.pem and FOLDER/key.pem
import http.server
import socket
import ssl
import sys
import threading

folder = sys.argv[1]


def answer(question):
    """The question again, with one answer: the name at byte 12, an address, kept for a second. Of IPv6 there is none."""
    end = question.index(0, 12) + 5
    is_address = question[end - 4 : end - 2] == b"\0\1"
    head = question[:2] + b"\x81\x80\0\1" + (b"\0\1" if is_address else b"\0\0") + bytes(4)
    record = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\x7f\0\0\1" if is_address else b""
    return head + question[12:end] + record


def name_server():
    while True:
        question, asker = names.recvfrom(512)
        names.sendto(answer(question), asker)


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        with open(folder + "/taken", "a") as taken:
            print(self.headers["Host"], len(body), file=taken)

    def log_message(self, *_):
        pass


names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.1", 53))
threading.Thread(target=name_server, daemon=True).start()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 4443), Store)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(folder + "/cert.pem", folder + "/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
with open(folder + "/ready", "w") as ready:
    print("ready", file=ready)
server.serve_forever()
