#!/usr/bin/python3
"""An augmenter's end of the plan edge, for tests: prints each item it is given.

usage: asker.py ENDPOINT [NAME=VALUE ...]

  session=1 epoch=0 step=0   where the trainer is
  room=2                     items it waits for at a time
  limit=0                    ends after so many items, reporting none: dies
  over=0                     says after so many items that the run is over
  version=2 digest= size=0   what it says in its hello
  reject=                    an id to complain about with the item that has it
  own=1                      0: with every item that does not have it
  quiet=0                    1: goes without a word when all is done
  gate=                      after its first item it waits for this file
  key= secret= server=       CURVE keys, Z85

One line of JSON an item; each is trained at once when it and all before are
there, and held until then.  Says the run is over and ends with 0 when all that is planned is done,
with 1 when it is refused: the reason goes to stderr.
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
want = dict(session=1, epoch=0, step=0, room=2, limit=0, over=0, version=2,
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
given, joined, early, end = 0, False, set(), (2**32, 0)
serial = time.time_ns()  # above that of an asker before this one


def send(kind, *parts, **head):
    socket.send_multipart([b"foil2." + kind, msgpack.packb(head), *parts])


def send_place(kind, at=None, *parts, **more):
    epoch, step = at or place
    send(kind, *parts, session=want["session"], epoch=epoch, step=step, **more)


def say_next():
    """What is wanted: a new snapshot."""
    global serial
    serial += 1
    have = sorted(at for at in early if at >= place)
    more = {"tensors": [["have", "i8", [len(have), 2]]]} if have else {}
    parts = [struct.pack(f"<{2 * len(have)}q", *sum(have, ()))] if have else []
    send_place(b"next", None, *parts, serial=serial, window=8,
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
            say_next()
        continue
    kind, head, *parts = socket.recv_multipart()
    head = msgpack.unpackb(head)
    if kind == b"foil2.error":
        if head.get("message"):
            print(head["reason"], file=sys.stderr)
            continue
        if not head.get("again"):
            sys.exit(head["reason"])
        time.sleep(0.1)
        hello()
    elif kind == b"foil2.hello":
        joined = True
        say_next()
    elif kind == b"foil2.end":
        end = head["epoch"], head["step"]
    elif kind == b"foil2.item":
        deadline = time.monotonic() + 30
        end = min(end, (head["epochs"], 0))
        at = head["epoch"], head["step"]
        ids = struct.unpack(f"<{len(parts[0]) // 8}q", parts[0])
        print(json.dumps(dict(epoch=at[0], step=at[1], steps=head["steps"],
                              epochs=head["epochs"], size=head["size"],
                              ids=ids)), flush=True)
        given += 1
        while want["gate"] and not os.path.exists(want["gate"]):
            time.sleep(0.05)
        if want["limit"] and given >= want["limit"]:
            break
        if want["reject"] and (int(want["reject"]) in ids) == want["own"]:
            send_place(b"reject", at, struct.pack("<q", int(want["reject"])),
                       reason="torn", tensors=[["ids", "i8", [1]]])
        early.add(at)
        while place in early:
            last = place[1] + 1 == head["steps"]
            place = (place[0] + 1, 0) if last else (place[0], place[1] + 1)
        if want["over"] and given >= want["over"]:
            send_place(b"end", over=True)
            sys.exit(0)
        say_next()
    if place >= end:
        if not want["quiet"]:
            send_place(b"end", over=True)
        break
if time.monotonic() >= deadline:
    sys.exit("nothing came for 30 seconds")
