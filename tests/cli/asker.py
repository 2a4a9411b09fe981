#!/usr/bin/python3
"""An augmenter's end of the plan edge, for tests: prints each item that it receives.

usage: asker.py ENDPOINT [NAME=VALUE ...]

  session=1 epoch=0 step=0   where the trainer is
  room=2                     how many items it requests at a time
  limit=0                    exits after that many items without a report, as if killed
  over=0                     reports the end of the run after that many items
  version=3 digest= size=0   fields of its hello
  reject=                    a sample to reject, with each item that contains it
  own=1                      0: with each item that does not contain it
  quiet=0                    1: exits at the end without a report
  gate=                      after its first item it waits until this file exists
  key= secret= server=       CURVE keys, Z85

Prints one line of JSON per item.  An item counts as trained as soon as all items before
it are there; until then it is held.  When the whole plan is trained, it reports the end
of the run and exits with 0.  When it is refused, it prints the reason on stderr and
exits with 1.
"""
import atexit
import json
import os
import struct
import sys
import time

import msgpack
import zmq

endpoint = sys.argv[1]
want = dict(session=1, epoch=0, step=0, room=2, limit=0, over=0, version=3,
            digest="", size=0, reject="", own=1, quiet=0, gate="", key="",
            secret="", server="")
for word in sys.argv[2:]:
    name, value = word.split("=", 1)
    want[name] = type(want[name])(value)

context = zmq.Context()
socket = context.socket(zmq.DEALER)
atexit.register(context.destroy, linger=2000)  # sends what is unsent
if want["key"]:
    socket.curve_publickey = want["key"].encode()
    socket.curve_secretkey = want["secret"].encode()
    socket.curve_serverkey = want["server"].encode()
socket.connect(endpoint)

place = want["epoch"], want["step"]
received, joined, early, end = 0, False, set(), (2**32, 0)
serial = time.time_ns()  # greater than that of any earlier asker


def send(kind, *parts, **head):
    socket.send_multipart([b"foil3." + kind, msgpack.packb(head), *parts])


def send_place(kind, at=None, *parts, **more):
    epoch, step = at or place
    send(kind, *parts, session=want["session"], epoch=epoch, step=step, **more)


def send_next():
    """Sends a new snapshot: which items are wanted."""
    global serial
    serial += 1
    have = sorted(at for at in early if at >= place)
    more = {"tensors": [["have", "i8", [len(have), 2]]]} if have else {}
    parts = [struct.pack(f"<{2 * len(have)}q", *sum(have, ()))] if have else []
    send_place(b"want", None, *parts, serial=serial, window=8,
               room=want["room"], **more)


def hello():
    send(b"hello", stage="augment", version=want["version"], run="",
         dataset={"digest": want["digest"], "size": want["size"]},
         peer=f"asker-{time.time_ns()}", recipe="asker")


hello()
deadline = time.monotonic() + 30
while time.monotonic() < deadline:
    if not socket.poll(500):
        if joined:
            send_next()
        continue
    kind, head, *parts = socket.recv_multipart()
    head = msgpack.unpackb(head)
    if kind == b"foil3.error":
        if head.get("message"):
            print(head["reason"], file=sys.stderr)
            continue
        if not head.get("rehello"):
            sys.exit(head["reason"])
        time.sleep(0.1)
        hello()
    elif kind == b"foil3.hello":
        joined = True
        send_next()
    elif kind == b"foil3.end":
        end = head["epoch"], head["step"]
    elif kind == b"foil3.item":
        deadline = time.monotonic() + 30
        end = min(end, (head["epochs"], 0))
        at = head["epoch"], head["step"]
        ids = struct.unpack(f"<{len(parts[0]) // 8}q", parts[0])
        print(json.dumps(dict(epoch=at[0], step=at[1], steps=head["steps"],
                              epochs=head["epochs"], size=head["size"],
                              ids=ids)), flush=True)
        received += 1
        while want["gate"] and not os.path.exists(want["gate"]):
            time.sleep(0.05)
        if want["limit"] and received >= want["limit"]:
            break
        if want["reject"] and (int(want["reject"]) in ids) == want["own"]:
            send_place(b"reject", at, struct.pack("<q", int(want["reject"])),
                       reason="torn", tensors=[["ids", "i8", [1]]])
        early.add(at)
        while place in early:
            last = place[1] + 1 == head["steps"]
            place = (place[0] + 1, 0) if last else (place[0], place[1] + 1)
        if want["over"] and received >= want["over"]:
            send_place(b"end", over=True)
            sys.exit(0)
        send_next()
    if place >= end:
        if not want["quiet"]:
            send_place(b"end", over=True)
        break
if time.monotonic() >= deadline:
    sys.exit("no message for 30 seconds")
