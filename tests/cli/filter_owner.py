"""filter_owner.py DIR: a trainer and an augmenter as peers of a filter, for filter.sh.
The filter's state belongs to the trainer of one session; the augmenter relays the
snapshots of the next session.  The filter must not begin that session while the first
trainer is connected, and must begin it afterwards. Prints TAP.
"""
import sys
import time

import msgpack
import zmq

folder = sys.argv[1]
context = zmq.Context()
first_session = time.time_ns()
DATA = {"digest": "", "size": 0}


def send(sock, kind, head):
    sock.send_multipart([b"foil3." + kind.encode(), msgpack.packb(head)])


def join(edge, hello):
    sock = context.socket(zmq.DEALER)
    sock.linger = 500
    sock.connect(f"ipc://{folder}/{edge}")
    send(sock, "hello", {"version": 3, "run": "", "dataset": DATA, **hello})
    return sock


def receive(sock, kind, seconds):
    """Receives the header of the next message of that kind, or None."""
    until = time.monotonic() + seconds
    while sock.poll(max(0, 1000 * (until - time.monotonic()))):
        got, head, *_ = sock.recv_multipart()
        if got.decode() == "foil3." + kind:
            return msgpack.unpackb(head)
        if got == b"foil3.error":
            print("#", msgpack.unpackb(head)["reason"])
    return None


def check(number, good, what):
    print("ok" if good else "not ok", number, "-", what, flush=True)


augmenter = join("items", {"stage": "augment", "peer": "a", "recipe": "none"})
hello = receive(augmenter, "hello", 60)
DATA = hello["dataset"]
trainer = join("negatives", {"stage": "train", "peer": "t"})
check(1, hello and receive(trainer, "hello", 60), "the filter answers both hellos")
send(trainer, "state.put", {"id": 1, "session": first_session, "epoch": 0, "step": 0,
                            "sampler": "", "total": 0, "empty": True, "tables": [],
                            "last": True})
check(2, receive(trainer, "ok", 60), "the filter takes the trainer's state")
serial = 0


def item(seconds):
    """Requests an item of the next session each second; returns it or None."""
    global serial
    until, got = time.monotonic() + seconds, None
    while not got and time.monotonic() < until:
        serial += 1
        send(augmenter, "want", {"session": first_session + 1, "epoch": 0, "step": 0,
                                 "serial": serial, "window": 4, "room": 4})
        got = receive(augmenter, "item", 1)
    return got


check(3, not item(2), "no other session begins while the trainer is connected")
trainer.close(0)
check(4, item(30), "the next session begins after the trainer has disconnected")
print("1..4")
