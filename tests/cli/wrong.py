#!/usr/bin/python3
"""A selector and a trainer that make mistakes of implementors, for tests: both
neighbours of one foil-augment.

usage: wrong.py DIR SIZE [MISTAKE]

Binds DIR/plan and DIR/batch.  Without MISTAKE it sends one item for each kind of
mistake, and prints for each the reason and the kind of the `error` that it gets, after
tabs.  Then it sends 200 bad items at once and prints how many of them were answered
within two seconds of the first ("flood").  Then it sends valid items until it has two
batches, and prints their number ("batches").  With MISTAKE, its hello has that mistake,
and it prints the reason of the error.
"""
import struct
import sys
import time

import msgpack
import zmq

folder, size = sys.argv[1], int(sys.argv[2])
greeting = sys.argv[3] if len(sys.argv) > 3 else ""
SESSION, STEPS, BATCH = 1000, 1000, 4
place = {"session": SESSION, "epoch": 0, "step": 0}
context = zmq.Context()
plan, batch = context.socket(zmq.ROUTER), context.socket(zmq.ROUTER)
plan.bind(f"ipc://{folder}/plan")
batch.bind(f"ipc://{folder}/batch")
errors, asked, received, augmenter = [], 0, 0, None


def item(step, mistake=""):
    ids = list(range(BATCH))
    head = {**place, "step": step, "run": "", "size": size, "steps": STEPS,
            "epochs": 1, "tensors": [["ids", "i8", [BATCH]]]}
    kind = b"foil3.item"
    if mistake == "i4":
        head["tensors"] = [["ids", "i4", [2 * BATCH]]]
    elif mistake == "outside":
        ids[0] = size
    elif mistake == "twice":
        ids[1] = ids[0]
    elif mistake == "size":
        head["size"] = size + 1
    elif mistake == "nosteps":
        head.pop("steps")
    elif mistake == "float":
        head["epoch"] = 0.0
    elif mistake == "stepover":
        head["step"] = STEPS
    elif mistake == "otherrun":
        head["run"] = "other"
    elif mistake == "empty":
        head["tensors"], ids = [["ids", "i8", [0]]], []
    elif mistake == "kind":
        kind = b"foil3.items"
    elif mistake == "prefix":
        kind = b"item"
    elif mistake == "v1":
        kind = b"foil1.item"
    parts = [kind, msgpack.packb(head), struct.pack(f"<{len(ids)}q", *ids)]
    if mistake == "part":
        parts[2] = parts[2][:-8]
    elif mistake == "noheader":
        parts = parts[:1]
    return parts


def hello(head, stage):
    head = {**head, "stage": stage, "peer": stage}
    if stage == "train" or not greeting:
        return head
    if greeting == "nodataset":
        del head["dataset"]
    elif greeting == "version":
        head["version"] = 1
    elif greeting == "digest":
        head["dataset"] = {"digest": "0" * 32, "size": size}
    return head


def send(socket, peer, kind, head):
    socket.send_multipart([peer, b"foil3." + kind, msgpack.packb(head)])


def handle_messages(seconds):
    """Handles messages for that long: errors, snapshots, batches."""
    global asked, received, augmenter
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for socket in plan, batch:
            while socket.poll(5):
                peer, kind, head, *_ = socket.recv_multipart()
                kind, head = kind[6:], msgpack.unpackb(head)
                if kind == b"hello":
                    stage = "select" if socket is plan else "train"
                    send(socket, peer, kind, hello(head, stage))
                    if socket is batch:
                        send(socket, peer, b"want",
                             {**place, "serial": 1, "window": 8})
                elif kind == b"want":
                    augmenter = peer
                    asked = head["room"]
                elif kind == b"error":
                    errors.append(head)
                received += kind == b"batch"


def wait(true):
    until = time.monotonic() + 60
    while not true() and time.monotonic() < until:
        handle_messages(0.02)


def print_errors(mistake):
    wait(lambda: errors)
    for head in errors:
        print(mistake, head["reason"], head.get("kind", ""), sep="\t",
              flush=True)
    errors.clear()


if greeting:
    print_errors(greeting)
    context.destroy(linger=2000)
    sys.exit()
wait(lambda: asked)
for mistake in ("i4", "outside", "twice", "size", "nosteps", "float",
                "stepover", "otherrun", "empty", "kind", "prefix", "v1",
                "part", "noheader"):
    handle_messages(0.12)  # it answers ten times a second at most
    plan.send_multipart([augmenter, *item(0, mistake)])
    print_errors(mistake)
for _ in range(200):
    plan.send_multipart([augmenter, *item(0, "nosteps")])
wait(lambda: errors)
handle_messages(2)
print("flood", len(errors), sep="\t", flush=True)
step, until = 0, time.monotonic() + 60
while received < 2 and time.monotonic() < until:
    plan.send_multipart([augmenter, *item(step % 8)])
    step += 1
    handle_messages(0.1)
print("batches", received, sep="\t", flush=True)
for peer_socket in plan, batch:
    handle_messages(0.05)
context.destroy(linger=2000)
