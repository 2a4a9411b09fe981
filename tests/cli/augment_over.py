"""augment_over.py DIR SIZE late|never|dismissed: the selector and the trainer of
foil-augment at the end of a run, for its test.

late       the trainer reports the end of the run while no selector is there;
           one starts a second later
never      no selector starts
dismissed  the selector reports the end of the run

Prints a line for each message that the augmenter then sends: the side that received
it, its kind, and "over" if it ends the run.
"""
import sys
import time

import msgpack
import zmq

folder, size, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
AT = {"session": time.time_ns(), "epoch": 1, "step": 0}
peers, seen = {}, set()
poller = zmq.Poller()


def bind(name):
    sock = zmq.Context.instance().socket(zmq.ROUTER)
    sock.linger = 0
    sock.bind(f"ipc://{folder}/{name}")
    poller.register(sock, zmq.POLLIN)
    return sock


def send(sock, peer, kind, head):
    sock.send_multipart([peer, b"foil3." + kind, msgpack.packb(head)])


def receive(sock, stage):
    peer, kind, head, *_ = sock.recv_multipart()
    kind, head = kind.decode()[6:], msgpack.unpackb(head)
    if kind == "hello":
        peers[stage] = peer
        send(sock, peer, b"hello", dict(head, stage=stage, peer=stage))
    elif kind != "heartbeat" and (stage, kind) not in seen:
        seen.add((stage, kind))
        print(stage, kind, "over" * head.get("over", False), flush=True)


def serve(seconds, done):
    until = time.monotonic() + seconds
    while time.monotonic() < until and not done():
        for sock, _ in poller.poll(50):
            receive(sock, sides[sock])


batch = bind("batch")
sides = {batch: "train"}
if mode == "dismissed":
    plan = bind("plan")
    sides[plan] = "select"
serve(20, lambda: len(peers) == len(sides))
send(batch, peers["train"], b"want", dict(AT, serial=1, window=2))
if mode == "dismissed":
    serve(20, lambda: ("select", "want") in seen)
    send(plan, peers["select"], b"end", dict(AT, over=True))
else:
    send(batch, peers["train"], b"end", dict(AT, over=True))
if mode == "late":
    serve(1, lambda: False)
    plan = bind("plan")
    sides[plan] = "select"
serve(0 if mode == "never" else 20,
      lambda: ("select" if mode == "late" else "train", "end") in seen)
time.sleep(mode == "never")  # a message that is not read is lost with us
