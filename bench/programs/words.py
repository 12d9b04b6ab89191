# SPDX-License-Identifier: Apache-2.0
# A service for gunicorn and uvicorn: counts words and answers with their sums.
import hashlib
import json

TEXT = " ".join(f"word{i * 7 % 61}" for i in range(400))


def count(text):
    words = {}
    for word in text.split():
        words[word] = words.get(word, 0) + len(word)
    return dict(sorted(words.items()))


def answer():
    text = json.dumps(count(TEXT), indent=1)
    return (text + hashlib.sha256(text.encode()).hexdigest()).encode()


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "application/json")])
    return [answer()]


async def asgi(scope, receive, send):
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer()})
