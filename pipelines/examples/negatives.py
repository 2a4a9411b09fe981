#!/usr/bin/python3
"""Weigh the negatives of a batch by their softmax: foil-negatives in Python.

usage: negatives.py ENDPOINT        e.g. negatives.py ipc://run/negatives

Each row's weights are softmax(beta <z_r, z_c>) over the rows of the other
images, which makes the decoupled contrastive loss.  No state is kept, so
nothing has to be handed back after a crash.  Needs python3-zmq,
python3-msgpack and python3-numpy.
"""
import sys

import msgpack
import numpy as np
import zmq

socket = zmq.Context().socket(zmq.ROUTER)
socket.linger = 2000
socket.bind(sys.argv[1])
greeted = {}


def send(peer, kind, header, **tensors):
    header["tensors"] = [[name, t.dtype.str[1:], list(t.shape)]
                         for name, t in tensors.items()]
    socket.send_multipart([peer, b"foil2." + kind, msgpack.packb(header)] +
                          [t.tobytes() for t in tensors.values()])


def weigh(z, beta):
    v, b, d = z.shape
    rows = z.reshape(v * b, d)
    score = beta * rows @ rows.T
    image = np.arange(v * b) % b
    score[image[:, None] == image[None, :]] = -np.inf
    w = np.exp(score - score.max(axis=1, keepdims=True))
    return (w / w.sum(axis=1, keepdims=True)).astype(np.float32)


while True:
    peer, kind, head, *parts = socket.recv_multipart()
    head = msgpack.unpackb(head)
    if kind == b"foil2.hello":
        greeted[peer] = True
        send(peer, b"hello", dict(head, stage="negatives", peer="negatives.py"))
    elif peer not in greeted:
        send(peer, b"error", {"reason": "who are you?", "again": True})
    elif kind == b"foil2.pairs":
        shape = {t[0]: t[2] for t in head["tensors"]}
        at = [t[0] for t in head["tensors"]].index("z")
        z = np.frombuffer(parts[at], "<f4").reshape(shape["z"])
        send(peer, b"weights",
             {"id": head["id"], "accepted": 1.0, "moved": 0},
             w=weigh(z, head["beta"]))
    elif kind == b"foil2.state.put":
        send(peer, b"state.ok", {k: head[k] for k in
                                 ("id", "session", "epoch", "step")})
