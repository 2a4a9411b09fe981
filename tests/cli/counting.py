#!/usr/bin/python3
"""A negatives service with its own state, for tests: it counts how often each sample was
in a request and reduces the weights of frequent samples.

usage: counting.py ENDPOINT [SIZE WIDTH FROM]

The trainer stores the counts in a table for it.  With SIZE, WIDTH and FROM the service
claims from step FROM on that the table has SIZE rows of WIDTH bytes, which a trainer
must refuse.
"""
import os
import sys

import msgpack
import numpy as np
import zmq

socket = zmq.Context().socket(zmq.ROUTER)
socket.linger = 2000
socket.bind(sys.argv[1])
false_shape = [int(word) for word in sys.argv[2:]]
greeted, session, counts, coming = {}, None, None, {}


def send(peer, kind, header, **tensors):
    header["tensors"] = [[name.replace("_", "."), t.dtype.str.lstrip("<|"),
                          list(t.shape)] for name, t in tensors.items()]
    socket.send_multipart([peer, b"foil3." + kind, msgpack.packb(header)] +
                          [t.tobytes() for t in tensors.values()])


def weigh(z, ids, beta):
    v, b, d = z.shape
    rows = z.reshape(v * b, d)
    score = beta * rows @ rows.T - np.log1p(counts[np.tile(ids, v)])
    image = np.arange(v * b) % b
    score[image[:, None] == image[None, :]] = -np.inf
    w = np.exp(score - score.max(axis=1, keepdims=True))
    return (w / w.sum(axis=1, keepdims=True)).astype("<f4")


def pairs(peer, head, tensors):
    ids, z = (np.frombuffer(tensors[n][1], t).reshape(tensors[n][0])
              for n, t in (("ids", "<i8"), ("z", "<f4")))
    w = weigh(z, ids, head["beta"])
    counts[ids] += 1
    rows, width = len(counts), 8
    if false_shape and (head["epoch"], head["step"]) >= (0, false_shape[2]):
        rows, width = false_shape[:2]
    send(peer, b"weights",
         {"id": head["id"], "accepted": 1.0, "moved": 0,
          "store": [["seen", rows, width]]}, w=w, seen_at=ids,
         seen_row=np.resize(counts[ids].view("u1"), (len(ids), width)))


def state_put(peer, head, tensors):
    global counts, session
    if head["total"] and not head.get("empty") and not head["tables"]:
        return send(peer, b"error", {"id": head["id"], "reason":
                                     "a state without the table of counts"})
    for name, rows, width in head["tables"]:
        assert head["sampler"] == "counting 1" and (name, width) == ("seen", 8)
        coming.setdefault(name, bytearray(rows * width))
        if name + ".row" in tensors:
            at = head.get("from", 0) * width
            row = tensors[name + ".row"][1]
            coming[name][at:at + len(row)] = row
    if head.get("last"):
        counts = np.zeros(greeted[peer], "<f8")
        if coming:
            counts[:] = np.frombuffer(coming["seen"], "<f8")
        coming.clear()
        session = head["session"]
    send(peer, b"ok", {k: head[k] for k in
                             ("id", "session", "epoch", "step")})


while True:
    peer, kind, head, *parts = socket.recv_multipart()
    head = msgpack.unpackb(head)
    tensors = {t[0]: (t[2], part)
               for t, part in zip(head.get("tensors", []), parts)}
    if kind == b"foil3.hello":
        greeted[peer] = head["dataset"]["size"]
        send(peer, b"hello", dict(head, stage="negatives",
                                  peer=f"counting {os.getpid()}",
                                  sampler="counting 1"))
    elif peer not in greeted:
        send(peer, b"error", {"reason": "who are you?", "rehello": True})
    elif kind == b"foil3.weights.get" and session != head["session"]:
        send(peer, b"error", {"reason": "no state for this session",
                              "id": head["id"], "need_state": True})
    elif kind == b"foil3.weights.get":
        pairs(peer, head, tensors)
    elif kind == b"foil3.state.put":
        state_put(peer, head, tensors)
