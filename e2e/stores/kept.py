# A store that takes profiles as Parca's gateway does, and checks the token of each. For each profile it adds a line "TIME DURATION LABEL=VALUE…"
# (nanoseconds) to FOLDER/taken, and the names that the profile has to FOLDER/names. Writes "ready" to FOLDER/ready.
#
#   kept.py PORT TOKEN FOLDER
import base64
import gzip
import http.server
import json
import sys

port, token, folder = sys.argv[1:]


def number(data, at):
    """A varint, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Number and value of each field of a message of Protocol Buffers; pprof has numbers and bytes alone."""
    at = 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == 0:
            value, at = number(data, at)
        elif key & 7 == 2:
            length, at = number(data, at)
            value, at = data[at : at + length], at + length
        else:
            raise ValueError("a field of type %d" % (key & 7))
        yield key >> 3, value


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 200
        if self.headers["Authorization"] != "Bearer " + token:
            status = 401
        elif self.path != "/api/profiles/writeraw":
            status = 404
        else:
            for series in json.loads(body)["series"]:
                labels = ["%s=%s" % (label["name"], label["value"]) for label in series["labels"]["labels"]]
                for sample in series["samples"]:
                    self.keep(labels, gzip.decompress(base64.b64decode(sample["rawProfile"])))
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def keep(self, labels, profile):
        values, names = {9: 0, 10: 0}, []
        for field, value in fields(profile):
            if field == 6:
                names.append(value.decode())
            elif field in values:
                values[field] = value
        with open(folder + "/names", "a") as kept:
            print("\n".join(names), file=kept)
        with open(folder + "/taken", "a") as kept:
            print(values[9], values[10], *labels, file=kept)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", int(port)), Store)
with open(folder + "/ready", "w") as ready:
    print("ready", file=ready)
server.serve_forever()
