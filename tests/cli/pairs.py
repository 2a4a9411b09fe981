#!/usr/bin/python3
"""A trainer's end of the negatives edge, for tests: requests weights of random batches
and prints the answers.

usage: pairs.py ENDPOINT [NAME=VALUE ...]

  session=1 step=0 steps=4   which steps to request
  size=12 batch=4 views=2    of the data set and of each batch
  beta=5
  put=1                      return the state when it is requested; 0: give up
  piece=1000                 rows in a piece of the state
  back=0                     return the state before this step, too, but changed:
    total=-1                 its number of steps; -1: unchanged
    sampler=                 its sampler; "": unchanged
    without=                 a table to leave out
    wider=                   a table that gets rows with one more byte
    skip=0                   pieces to leave out
    fresh=0                  1: it claims that no step was made
  again=0                    how often to repeat each request
  gate=                      after its first step it waits until this file exists
  peer=pairs.py              its name in hello

Prints one line of JSON per step.  When it is refused, it prints the reason on stderr and
exits with 1.
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
PLAIN = dict(total=-1, sampler="", without="", wider="", skip=0, fresh=0)
want = dict(PLAIN, session=1, step=0, steps=4, size=12, batch=4, views=2,
            beta=5.0, put=1, back=0, piece=1000, again=0, gate="",
            peer="pairs.py")
for word in sys.argv[2:]:
    name, value = word.split("=", 1)
    want[name] = type(want[name])(value)

size, b, v, d = want["size"], want["batch"], want["views"], 3
tables = {}  # the state of the service: name -> rows, each a bytearray
sampler = ""
context = zmq.Context()
socket = None
number = time.time_ns()


def connect():
    global socket
    if socket:
        socket.close(0)
    socket = context.socket(zmq.DEALER)
    socket.connect(endpoint)
    head = {"stage": "train", "version": 3, "run": "", "peer": want["peer"],
            "dataset": {"digest": "0" * 32, "size": size}}
    socket.send_multipart([b"foil3.hello", msgpack.packb(head)])


def ask(kind, head, *tensors):
    """Sends a request until it is answered, each time on a new socket."""
    global sampler
    for _ in range(30):
        socket.send_multipart([b"foil3." + kind, msgpack.packb(head),
                               *tensors])
        while socket.poll(1000):
            kind_, head_, *parts = socket.recv_multipart()
            answer = msgpack.unpackb(head_)
            sampler = answer.get("sampler", sampler)
            if kind_ == b"foil3.hello" or answer.get("rehello"):
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


def keep(answer, parts):
    """Stores the service's state."""
    tensors = {t[0]: (t[2], part)
               for t, part in zip(answer.get("tensors", []), parts)}
    for name, rows, width in answer.get("store", []):
        table = tables.setdefault(name, [])
        table += [bytearray(width) for _ in range(rows - len(table))]
        (n,), at = tensors.get(name + ".at", ([0], b""))
        _, row = tensors.get(name + ".row", (None, b""))
        for k, place_ in enumerate(struct.unpack(f"<{n}q", at)):
            table[place_][:] = row[k * width:(k + 1) * width]


def put_state(step):
    """Returns the state, piece by piece."""
    changes = want if step == want["back"] else PLAIN
    sent = {name: rows for name, rows in tables.items()
            if name != changes["without"]}
    if changes["wider"]:
        sent[changes["wider"]] = [row + b"x" for row in sent[changes["wider"]]]
    pieces = [(name, first) for name in sent
              for first in range(0, len(sent[name]), want["piece"])]
    pieces = pieces[changes["skip"]:] or [(None, 0)]
    for name, first in pieces:
        head = dict(place(step), sampler=changes["sampler"] or sampler,
                    total=step if changes["total"] < 0 else changes["total"],
                    tables=[[n, len(rows), len(rows[0])]
                            for n, rows in sent.items()],
                    last=(name, first) == pieces[-1])
        parts = []
        if changes["fresh"]:
            head["empty"] = True
        if name:
            rows = sent[name][first:first + want["piece"]]
            head["from"] = first
            head["tensors"] = [[name + ".row", "u1",
                                [len(rows), len(rows[0])]]]
            parts.append(b"".join(rows))
        kind, answer, _ = ask(b"state.put", head, *parts)
        if kind != b"ok":
            sys.exit(answer["reason"])


def weights(step, head):
    ids, z = batch_of(step)
    head = dict(head, beta=want["beta"],
                tensors=[["ids", "i8", [b]], ["z", "f4", [v, b, d]]])
    return ids, *ask(b"weights.get", head, struct.pack(f"<{b}q", *ids),
                     struct.pack(f"<{v * b * d}f", *z))


connect()
for step in range(want["step"], want["step"] + want["steps"]):
    if want["back"] == step > want["step"]:
        put_state(step)
    head = place(step)
    ids, kind, answer, parts = weights(step, head)
    if answer.get("need_state") and want["put"]:
        put_state(step)
        head = place(step)
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
    keep(answer, parts)
    while want["gate"] and not os.path.exists(want["gate"]):
        time.sleep(0.05)
