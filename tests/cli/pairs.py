#!/usr/bin/python3
"""A trainer's end of the negatives edge, for tests: asks for the weights of
random batches and prints what it is answered.

usage: pairs.py ENDPOINT [NAME=VALUE ...]

  session=1 step=0 steps=4   which steps to ask for
  size=12 batch=4 views=2    of the data set and of each batch
  beta=5
  put=1                      hand the mirror over when asked; 0: give up
  again=0                    ask for each step so often again
  gate=                      after its first step it waits for this file
  state=0                    in the end compare the service's state with ours
  peer=pairs.py              its name in hello
  total=0                    the steps that state.put says there were
  chain=1 fresh=0            what state.put has of the mirror; that nothing has begun

One line of JSON a step.  Ends with 1 when it is refused: the reason goes to
stderr.
"""
import json
import os
import random
import struct
import sys
import time

import msgpack
import zmq

endpoint = sys.argv[1]
want = dict(session=1, step=0, steps=4, size=12, batch=4, views=2, beta=5.0,
            put=1, again=0, gate="", state=0, peer="pairs.py", total=0,
            chain=1, fresh=0)
for word in sys.argv[2:]:
    name, value = word.split("=", 1)
    want[name] = type(want[name])(value)

size, b, v, d = want["size"], want["batch"], want["views"], 3
mirror = [-1] * (size * v * 2)
context = zmq.Context()
socket = None
number = time.time_ns()


def connect():
    global socket
    if socket:
        socket.close(0)
    socket = context.socket(zmq.DEALER)
    socket.connect(endpoint)
    head = {"stage": "train", "version": 2, "run": "", "peer": want["peer"],
            "dataset": {"digest": "0" * 32, "size": size}}
    socket.send_multipart([b"foil2.hello", msgpack.packb(head)])


def ask(kind, head, *tensors):
    """Until the answer to this id comes, on ever fresh sockets."""
    for _ in range(30):
        socket.send_multipart([b"foil2." + kind, msgpack.packb(head),
                               *tensors])
        while socket.poll(1000):
            kind_, head_, *parts = socket.recv_multipart()
            answer = msgpack.unpackb(head_)
            if kind_ == b"foil2.hello" or answer.get("again"):
                continue
            if answer.get("id", head["id"]) == head["id"]:
                return kind_[6:], answer, parts
        connect()
    sys.exit("no answer for 30 seconds")


def place(step):
    global number
    number += 1
    return {"id": number, "session": want["session"], "epoch": 0, "step": step}


def batch_of(step):
    dice = random.Random(step)
    z = [dice.gauss(0, 1) for _ in range(v * b * d)]
    for r in range(0, len(z), d):
        length = sum(x * x for x in z[r:r + d]) ** 0.5
        z[r:r + d] = [x / length for x in z[r:r + d]]
    return dice.sample(range(size), b), z


def put_state(step):
    head = dict(place(step), tensors=[["total", "i8", [1]]])
    parts = [struct.pack("<q", want["total"])]
    if want["chain"]:
        head["tensors"].append(["chain", "i8", [size, v, 2]])
        parts.append(struct.pack(f"<{len(mirror)}q", *mirror))
    if want["fresh"]:
        head["fresh"] = True
    kind, answer, _ = ask(b"state.put", head, *parts)
    if kind != b"state.ok":
        sys.exit(answer["reason"])


def weights(step, head):
    ids, z = batch_of(step)
    head = dict(head, beta=want["beta"],
                tensors=[["ids", "i8", [b]], ["z", "f4", [v, b, d]]])
    return ids, *ask(b"pairs", head, struct.pack(f"<{b}q", *ids),
                     struct.pack(f"<{v * b * d}f", *z))


connect()
for step in range(want["step"], want["step"] + want["steps"]):
    head = place(step)
    ids, kind, answer, parts = weights(step, head)
    if answer.get("state") and want["put"]:
        put_state(step)
        ids, kind, answer, parts = weights(step, head)
    if kind == b"error":
        sys.exit(answer["reason"])
    for _ in range(want["again"]):
        assert weights(step, head)[1:] == (kind, answer, parts)
    shape = {name: shape for name, _, shape in answer["tensors"]}
    assert shape["w"] == [v * b, v * b], shape
    print(json.dumps({
        "step": step, "ids": ids, "accepted": answer["accepted"],
        "moved": answer["moved"], "id": answer["id"] == head["id"],
        "w": struct.unpack(f"<{(v * b) ** 2}f", parts[0])}), flush=True)
    if "keep" in shape:
        keep = struct.unpack(f"<{v * b * 2}q", parts[1])
        for r in range(v * b):
            at = (ids[r % b] * v + r // b) * 2
            mirror[at:at + 2] = keep[2 * r:2 * r + 2]
    while want["gate"] and not os.path.exists(want["gate"]):
        time.sleep(0.05)
if want["state"]:
    kind, answer, parts = ask(b"state", place(want["step"] + want["steps"]))
    at = [name for name, *_ in answer["tensors"]].index("chain")
    got = list(struct.unpack(f"<{len(mirror)}q", parts[at]))
    if kind != b"state" or got != mirror:
        sys.exit("the service's state is not the mirror")
