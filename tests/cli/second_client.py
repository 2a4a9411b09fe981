"""second_client.py DIR WHAT [EDGE]: a well-formed peer beside the stages of a run,
for second-client.sh. It joins DIR's edges (EDGE: items, of a filter, in place of
plan) as an augmenter and

    hold         takes one item, shows life, passes progress on, delivers nothing
    hoard        the same with all the items it can get
    end-batch    tells the trainer that nothing is left
    end-plan     tells the selector that the run is over
    done-far     tells the selector that all but the last epoch is trained
    done-near    ... that all is trained which was handed out
    next-newer   names a session 80 years ahead

The last five say it once, when 20 steps are trained. Prints what it is told by `error`. Ends when the run
does, or after a minute. RECIPE in the environment is that of the run.
"""
import os
import sys
import time

import msgpack
import zmq

folder, what = sys.argv[1:3]
context = zmq.Context()
poller = zmq.Poller()


def join(edge):
    sock = context.socket(zmq.DEALER)
    sock.linger = 500
    sock.connect(f"ipc://{folder}/{edge}")
    poller.register(sock, zmq.POLLIN)
    say(sock, "hello", {"stage": "augment", "version": 2, "run": "",
                        "peer": "second-client", "recipe": os.environ["RECIPE"],
                        "dataset": {"digest": "", "size": 0}})
    return sock


def say(sock, kind, head):
    sock.send_multipart([b"foil2." + kind.encode(), msgpack.packb(head)])


plan, batch = join(sys.argv[3] if len(sys.argv) > 3 else "plan"), join("batch")
place, ready, said, beat, until = None, False, False, 0, time.monotonic() + 60
credit = {"hold": 1, "hoard": 4096}.get(what, 0)


def once():
    """What is said once, as soon as the run's place is known."""
    if what == "end-batch":
        say(batch, "end", {**place, "epoch": 0, "step": 0})
    elif what == "end-plan":
        say(plan, "end", place)
    elif what == "done-far":
        say(plan, "done", {**place, "epoch": 99, "step": 0})
    elif what == "done-near":
        say(plan, "done", {**place, "step": place["step"] + 4})
    elif what == "next-newer":
        say(plan, "next", {**place, "session": 2 ** 62, "credit": 1})


while time.monotonic() < until:
    for sock, _ in poller.poll(200):
        kind, head = sock.recv_multipart()[:2]
        kind, head = kind.decode()[6:], msgpack.unpackb(head)
        if sock is batch and kind in ("next", "done"):
            place = {k: head[k] for k in ("session", "epoch", "step")}
            if credit or head.get("waits"):
                say(plan, "next", {**place, "credit": credit,
                                   "waits": head.get("waits", False)})
                credit = 4096 if what == "hoard" else 0
        elif kind == "error":
            print(head["reason"], flush=True)
        elif kind == "end" and sock is batch:
            sys.exit()
    if place and not said and (place["step"] >= 20 or place["epoch"]):
        said = True
        once()
    if place and not ready:
        ready = True
        print("ready", flush=True)
    if time.monotonic() > beat + 1:
        beat = time.monotonic()
        say(batch, "beat", {})
        if place:
            say(plan, "next", {**place, "credit": 0})
