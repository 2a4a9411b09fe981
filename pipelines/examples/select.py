#!/usr/bin/python3
"""Plan epochs by shuffling: foil-select in Python, whole but for its options.
usage: select.py ENDPOINT BATCH EPOCHS SEED [LEASE]
Keeps a window, leases items: foil-wire(5). Needs python3-zmq, python3-msgpack."""
import functools
import random
import struct
import sys
import time

import msgpack
import zmq
endpoint, batch, epochs, seed = sys.argv[1], *map(int, sys.argv[2:5])
lease = float((sys.argv[5:] or [10])[0])  # seconds
context = zmq.Context()
socket = context.socket(zmq.ROUTER)
socket.bind(endpoint)
seen, room = {}, {}   # of each peer: when it spoke last, how many items it takes
leases = {}           # item -> (peer, its end, when that was seen)
newest, came, done, wanted = (-1, 0), 0, 0, []  # what the newest snapshot says
dataset, steps = None, 1  # the data set is that of the first who greets

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
        "run": "", "session": newest[0], "epoch": epoch, "step": step,
        "steps": steps, "epochs": epochs, "size": dataset["size"],
        "tensors": [["ids", "i8", [len(ids)]]]},
        struct.pack(f"<{len(ids)}q", *ids))
    leases[item] = peer, time.monotonic() + lease, 0

while done < epochs * steps:
    ready, now = socket.poll(500), time.monotonic()
    if ready:
        peer, kind, head, *parts = socket.recv_multipart()
        head, seen[peer] = msgpack.unpackb(head), now
        if kind == b"foil2.hello":
            dataset, room[peer] = dataset or head["dataset"], 0
            leases = {i: x for i, x in leases.items() if x[0] != peer}
            steps = min(-(-dataset["size"] // batch), dataset["size"] // 2)
            head.update(stage="select", peer="select.py", dataset=dataset)
            send(peer, b"hello", head)
        elif peer not in room:
            send(peer, b"error", {"reason": "who are you?", "again": True})
        elif kind == b"foil2.end" and head["session"] == newest[0]:
            break
        elif kind == b"foil2.next":
            room[peer] = head.get("room", head["window"])
            if (head["session"], head["serial"]) > newest:
                leases = leases if head["session"] == newest[0] else {}
                newest, came = (head["session"], head["serial"]), now
                have = {e * steps + s for e, s
                        in struct.iter_unpack("<2q", b"".join(parts))}
                done = head["epoch"] * steps + head["step"]
                wanted = [i for i in range(done, done + head["window"])
                          if i < epochs * steps and i not in have]
                leases = {i: x for i, x in leases.items() if i in wanted}
    room = {p: n for p, n in room.items() if now - seen[p] < 3}
    leases = {i: (p, end, over or now * (now >= end))  # late: not in a newer one
              for i, (p, end, over) in leases.items()
              if p in room and not (over and came > over + 0.1)}
    for item in wanted:
        held = [x[0] for x in leases.values()]
        spare = {p: n - held.count(p) for p, n in room.items()}
        peer = max(spare, key=spare.get, default=None)
        if item not in leases and peer and spare[peer] > 0:
            give(peer, item)
for peer in room:
    send(peer, b"end", {"session": newest[0], "epoch": epochs, "step": 0})
context.destroy(linger=2000)  # or the last words are lost
