"""A selector with a fourth item that is larger than its first one.  It prints the error
for that item, and ends.

usage: larger.py PLAN-ENDPOINT
"""
import struct
import sys

import msgpack
import zmq

sock = zmq.Context().socket(zmq.ROUTER)
sock.bind(sys.argv[1])
at, sent, size = (-1, 0), set(), 0


def send(peer, kind, head, *tensors):
    sock.send_multipart([peer, b"foil3." + kind, msgpack.packb(head), *tensors])


while True:
    peer, kind, head, *_ = sock.recv_multipart()
    head = msgpack.unpackb(head)
    if kind == b"foil3.hello":
        size = head["dataset"]["size"]
        send(peer, b"hello", {**head, "stage": "select", "peer": "larger"})
    elif kind == b"foil3.error":
        print(head.get("kind"), head.get("epoch"), head.get("step"),
              head["reason"])
        break
    elif kind == b"foil3.want" and (head["session"], head["serial"]) >= at:
        at = head["session"], head["serial"]
        wanted = range(head["step"], min(head["step"] + head["window"], 8))
        for step in set(wanted) - sent:
            sent.add(step)
            b = 16 if step == 3 else 8
            send(peer, b"item", {
                "session": at[0], "epoch": 0, "step": step, "run": "",
                "size": size, "steps": 8, "epochs": 1,
                "tensors": [["ids", "i8", [b]]],
            }, struct.pack(f"<{b}q", *range(16 * step, 16 * step + b)))
