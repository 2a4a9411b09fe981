"""filter_owner.py DIR: peers of a filter, for filter.sh, that are a trainer and an
augmenter of a run. The state belongs to the trainer of one session while the augmenter
passes on a session that begins; the filter cannot begin that before the first trainer
is gone, and has to then. Prints TAP.
"""
import sys
import time

import msgpack
import zmq

folder = sys.argv[1]
context = zmq.Context()
begun = time.time_ns()
DATA = {"digest": "", "size": 0}


def say(sock, kind, head):
    sock.send_multipart([b"foil2." + kind.encode(), msgpack.packb(head)])


def join(edge, hello):
    sock = context.socket(zmq.DEALER)
    sock.linger = 500
    sock.connect(f"ipc://{folder}/{edge}")
    say(sock, "hello", {"version": 2, "run": "", "dataset": DATA, **hello})
    return sock


def hear(sock, kind, seconds):
    """The header of the next message of that kind, or None."""
    until = time.monotonic() + seconds
    while sock.poll(max(0, 1000 * (until - time.monotonic()))):
        got, head, *_ = sock.recv_multipart()
        if got.decode() == "foil2." + kind:
            return msgpack.unpackb(head)
        if got == b"foil2.error":
            print("#", msgpack.unpackb(head)["reason"])
    return None


def check(number, good, what):
    print("ok" if good else "not ok", number, "-", what, flush=True)


augmenter = join("items", {"stage": "augment", "peer": "a", "recipe": "none"})
hello = hear(augmenter, "hello", 60)
DATA = hello["dataset"]
trainer = join("negatives", {"stage": "train", "peer": "t"})
check(1, hello and hear(trainer, "hello", 60), "the filter greets both")
say(trainer, "state.put", {"id": 1, "session": begun, "epoch": 0, "step": 0,
                           "sampler": "", "total": 0, "fresh": True, "tables": [],
                           "last": True})
check(2, hear(trainer, "state.ok", 60), "the state is the trainer's")
serial = 0


def item(seconds):
    """The next item of the session that begins, asked for each second."""
    global serial
    until, got = time.monotonic() + seconds, None
    while not got and time.monotonic() < until:
        serial += 1
        say(augmenter, "next", {"session": begun + 1, "epoch": 0, "step": 0,
                                "serial": serial, "window": 4, "room": 4})
        got = hear(augmenter, "item", 1)
    return got


check(3, not item(2), "while it is there no other session begins")
trainer.close(0)
check(4, item(30), "when it is gone the next one does")
print("1..4")
