# SPDX-License-Identifier: Apache-2.0
# cells.py CONNECTION_FILE: has a kernel of Jupyter run one cell after another.
import sys

from jupyter_client import BlockingKernelClient

CELL = """
import numpy
import words
numbers = numpy.random.default_rng(1).random((60, 60))
total = 0
for _ in range(50):
    total += len(words.answer()) + numpy.linalg.svd(numbers)[1].sum()
total
"""
client = BlockingKernelClient(connection_file=sys.argv[1])
client.load_connection_file()
client.start_channels()
client.wait_for_ready(timeout=60)
while True:
    reply = client.execute(CELL, reply=True, timeout=60)
    if reply["content"]["status"] != "ok":
        sys.exit(f"the cell failed: {reply['content']}")
