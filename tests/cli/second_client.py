"""second_client.py DIR WHAT [EDGE [holding]]: a peer with valid messages in a run, for
second-client.sh.  It joins DIR's edges (EDGE: items, of a filter, instead of plan) as an
augmenter and

    hold         takes one item, sends beats and snapshots, delivers nothing
    hoard        the same with all items that it can get
    end-batch    sends the trainer the end of the plan
    end-plan     sends the selector the end of the run
    done-far     claims to the selector that all epochs but the last are trained
    done-near    ... that all items handed out are trained
    done-epochs  ... that four more epochs are trained
    held-all     ... that the trainer has all items handed out
    next-newer   sends a session 80 years ahead
    next-near    ... one that begins a second after the trainer's

The last eight send it once, when 20 steps are trained; with `holding` after EDGE, as soon
as they hold an item, so that the run cannot end before the selector has received it, and
print `sent`.  Prints the reasons of errors.  Ends with the run, or after a minute.  The
environment variable RECIPE is the recipe of the run.
"""
import os
import struct
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
    send(sock, "hello", {"stage": "augment", "version": 3, "run": "",
                         "peer": "second-client", "recipe": os.environ["RECIPE"],
                         "dataset": {"digest": "", "size": 0}})
    return sock


def send(sock, kind, head, *parts):
    sock.send_multipart([b"foil3." + kind.encode(), msgpack.packb(head), *parts])


plan, batch = join(sys.argv[3] if len(sys.argv) > 3 else "plan"), join("batch")
place, ready, sent, beat, until = None, False, False, 0, time.monotonic() + 60
newest, have = None, []  # the trainer's last snapshot: header, tensors
holding, held = "holding" in sys.argv, False
room = 1 if holding else {"hold": 1, "hoard": 4096}.get(what)


def once():
    """Sends the one message of WHAT, when the run's place is known."""
    if what == "end-batch":
        send(batch, "end", {**place, "epoch": 0, "step": 0})
    elif what == "end-plan":
        send(plan, "end", {**place, "over": True})
    elif what == "done-far":
        lie({"epoch": 99, "step": 0})
    elif what == "done-near":
        lie({"step": place["step"] + 4})
    elif what == "done-epochs":
        lie({"epoch": place["epoch"] + 4, "step": 0})
    elif what == "held-all":
        places = [(place["epoch"], place["step"] + i) for i in range(8)]
        lie({"tensors": [["have", "i8", [8, 2]]]},
            struct.pack("<16q", *sum(places, ())))
    elif what == "next-newer":
        lie({"session": 2 ** 62})
    elif what == "next-near":
        lie({"session": place["session"] + 10 ** 9})


def lie(more, *parts):
    send(plan, "want", {**place, "serial": newest["serial"] + 10 ** 6,
                        "window": 8, "room": 1, **more}, *parts)


def pass_on():
    if room:
        send(plan, "want", {**newest, "room": room}, *have)


while time.monotonic() < until:
    for sock, _ in poller.poll(200):
        kind, head, *parts = sock.recv_multipart()
        kind, head = kind.decode()[6:], msgpack.unpackb(head)
        if sock is batch and kind == "want":
            place = {k: head[k] for k in ("session", "epoch", "step")}
            newest, have = head, parts
            pass_on()
        elif sock is plan and kind == "item":
            held = True
        elif kind == "error":
            print(head["reason"], flush=True)
        elif kind == "end" and sock is batch:
            sys.exit()
    if place and not sent and (held if holding else
                               place["step"] >= 20 or place["epoch"]):
        sent = True
        once()
        if holding:
            room = None
            print("sent", flush=True)
    if place and not ready:
        ready = True
        print("ready", flush=True)
    if time.monotonic() > beat + 1:
        beat = time.monotonic()
        send(batch, "heartbeat", {})
        send(plan, "heartbeat", {})
        if newest:
            pass_on()
