#!/usr/bin/python3
"""Plan epochs by shuffling: foil-select in Python, whole but for its options.
usage: select.py ENDPOINT BATCH EPOCHS SEED
Counts credit, leases items: foil-wire(5). Needs python3-zmq, python3-msgpack."""
import functools
import random
import struct
import sys
import time

import msgpack
import zmq

endpoint, batch, epochs, seed = sys.argv[1], *map(int, sys.argv[2:5])
context = zmq.Context()
socket = context.socket(zmq.ROUTER)
socket.bind(endpoint)
dataset = None         # that of the first who greets
seen, credit = {}, {}  # of each peer: when it last spoke, what it may get
leases = {}            # item -> (peer, deadline); items count over epochs
session, done, fresh, steps = -1, 0, 0, 1


def send(peer, kind, head, *parts):
    socket.send_multipart([peer, b"foil2." + kind, msgpack.packb(head), *parts])


@functools.lru_cache(2)
def order(epoch):
    n = dataset["size"]
    return random.Random(f"{seed} {epoch}").sample(range(n), n)


def give(peer, item):
    epoch, step = divmod(item, steps)
    ids = order(epoch)[step::steps]
    send(peer, b"item", {
        "run": "", "session": session, "epoch": epoch, "step": step,
        "steps": steps, "epochs": epochs, "size": dataset["size"],
        "tensors": [["ids", "i8", [len(ids)]]]},
        struct.pack(f"<{len(ids)}q", *ids))
    leases[item] = peer, time.monotonic() + 10


while done < epochs * steps:
    ready, now = socket.poll(500), time.monotonic()
    if ready:
        peer, kind, head, *_ = socket.recv_multipart()
        head, seen[peer] = msgpack.unpackb(head), now
        if kind == b"foil2.hello":
            dataset, credit[peer] = dataset or head["dataset"], 0
            leases = {i: (p, t * (p != peer)) for i, (p, t) in leases.items()}
            steps = min(-(-dataset["size"] // batch), dataset["size"] // 2)
            head.update(stage="select", peer="select.py", dataset=dataset)
            send(peer, b"hello", head)
        elif peer not in credit:
            send(peer, b"error", {"reason": "who are you?", "again": True})
        elif "session" in head and kind != b"foil2.reject":
            at = head["epoch"] * steps + head["step"]
            if head["session"] > session:  # a trainer was started
                session, done, fresh, leases = head["session"], at, at, {}
                credit = dict.fromkeys(credit, 0)
            if head["session"] == session:
                done, fresh = max(done, at), max(fresh, at)
                credit[peer] += head.get("credit", 0)
                if kind == b"foil2.end":
                    break
    leases = {item: lease for item, lease in leases.items() if item >= done}
    credit = {p: k for p, k in credit.items() if now - seen[p] < 3}
    for peer in credit:
        while credit[peer] and (item := min(
                (i for i, (holder, until) in leases.items()
                 if holder not in credit or now > until),
                default=fresh)) < epochs * steps:
            give(peer, item)
            credit[peer], fresh = credit[peer] - 1, max(fresh, item + 1)
for peer in credit:
    send(peer, b"end", {"session": session, "epoch": epochs, "step": 0})
context.destroy(linger=2000)  # or the last words are lost
