"""Sixteen peers that exchange hellos and then begin messages without ending them.

usage: greedy.py ENDPOINT PID

ENDPOINT is the path of a trainer's socket for batches, PID the trainer.  Each peer
sends 32 MiB in parts of 8 MiB, unless it is cut off.  Prints by how many KiB the
trainer's memory grew at most.
"""
import os
import socket
import sys

import msgpack
from zmtp import frame, memory, read, shake

ENDPOINT, PID = sys.argv[1:]
PEERS, PARTS = 16, 4
part = frame(1, bytes(8 << 20))


def join(i):
    s = socket.socket(socket.AF_UNIX)
    s.connect(ENDPOINT)
    shake(s, b"DEALER")
    hello = {"peer": f"greedy-{os.getpid()}-{i}", "stage": "augment", "version": 3,
             "run": "", "recipe": "r", "dataset": {"digest": "f" * 32, "size": 77}}
    s.sendall(frame(1, b"foil3.hello") + frame(0, msgpack.packb(hello)))
    if b"foil3.hello" not in read(s, 40):
        sys.exit("the trainer does not answer hello")
    return s


before = memory(PID)
most = cut = 0
peers = [join(i) for i in range(PEERS)]
for s in peers:
    try:
        for _ in range(PARTS):
            s.sendall(part)
            most = max(most, memory(PID) - before)
    except OSError:
        cut += 1
most = max(most, memory(PID) - before)
print(f"# {cut} of {PEERS} were cut off", file=sys.stderr)
print(most)
