# SPDX-License-Identifier: Apache-2.0
"""mailer.py: checks addresses by a regular expression that takes twice as long for each further character."""
import re
import signal

ADDRESS = re.compile(r"^([a-z0-9]+)+@example\.org$")


def is_address(text):
    return ADDRESS.match(text) is not None


def send_mails():
    while True:
        is_address("a" * 18)


signal.alarm(60)
send_mails()
