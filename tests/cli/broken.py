"""A proxy between a correct stage and the conformance kit that breaks a rule of
foil-wire(5).  The stage has the run directory DIR, the kit FRONT.

usage: broken.py ROLE DIR FRONT [on EDGE] [since KIND N] FAULT

on EDGE       only on that edge; since KIND N: only from the Nth message of that
              kind on, from either side.  FAULT is one of
hides KIND [N]       drops messages of the stage; with N only the Nth
deafens KIND [N]     drops messages to the stage
repeats KIND N       sends each message of the stage N times
echoes KIND OTHER    after each KIND to the stage, repeats the stage's last OTHER
sets KIND KEY VALUE  changes the header, in JSON; +N adds, null removes the key
mishears KIND KEY VALUE  the same for messages to the stage
bare KIND            removes the tensors; misled KIND: in messages to the stage
swaps KIND PART      swaps the first float of that tensor and the largest of its row
spoils KIND PART     changes the first float or byte of that tensor
keeps KIND KEY       the stage gets the first value that this key had
garbles KIND         the header is not msgpack
shuns peer N         the stage gets nothing from the Nth peer that connects
hurries              sends an item that was not requested
lives KIND           sends it each half second, whatever the stage does
"""
import json
import os
import struct
import sys

import msgpack
import zmq

role, stage_dir, kit_dir, *words = sys.argv[1:]
EDGES = {"select": ["plan"], "augment": ["plan", "batch"], "train": ["batch"],
         "negatives": ["negatives"]}
only, since = None, (None, 0)
if words[0] == "on":
    only, words = words[1], words[2:]
if words[0] == "since":
    since, words = (words[1], int(words[2])), words[3:]
fault, which, *args = words + ([""] if len(words) < 2 else [])
seen, last, first_values = {}, {}, []


def acts(kind, edge):
    return kind == which and only in (None, edge) and \
        seen.get(since[0], 0) >= since[1]


def changed(frames, key, value):
    head = msgpack.unpackb(frames[1])
    at = head
    *path, key = key.split(".")
    for name in path:
        at = at[name]
    if value == "null":
        at.pop(key, None)
    elif value.startswith("+"):
        at[key] += int(value)
    else:
        at[key] = json.loads(value)
    return [frames[0], msgpack.packb(head), *frames[2:]]


def bared(frames):
    return [changed(frames, "tensors", "null")[k] for k in (0, 1)]


def spoiled(frames, part):
    about = msgpack.unpackb(frames[1])["tensors"]
    at = 2 + [name for name, *_ in about].index(part)
    data = bytearray(frames[at])
    if fault == "swaps":
        row = list(struct.unpack_from("<%df" % about[at - 2][2][-1], data))
        top = row.index(max(row))
        row[0], row[top] = row[top], row[0]
        struct.pack_into("<%df" % len(row), data, 0, *row)
    elif about[at - 2][1] == "f4":
        data[:4] = struct.pack("<f", struct.unpack("<f", data[:4])[0] + 1)
    else:
        data[0] ^= 1
    return [*frames[:at], bytes(data), *frames[at + 1:]]


def of_stage(kind, edge, frames):
    """The messages that the kit gets for a message of the stage."""
    last[kind] = frames
    if fault == "hurries" and kind == "hello":
        head = {"session": 1, "epoch": 0, "step": 0, "run": "", "size": 64,
                "steps": 8, "epochs": 4, "tensors": [["ids", "i8", [1]]]}
        return [frames, [b"foil3.item", msgpack.packb(head),
                         struct.pack("<q", 3)]]
    if not acts(kind, edge):
        return [frames]
    if fault == "hides":
        return [] if not args or seen[kind] == int(args[0]) else [frames]
    if fault == "repeats":
        return [frames] * int(args[0])
    if fault == "sets":
        return [changed(frames, *args)]
    if fault == "bare":
        return [bared(frames)]
    if fault == "garbles":
        return [[frames[0], b"\xc1", *frames[2:]]]
    if fault in ("spoils", "swaps"):
        return [spoiled(frames, args[0])]
    return [frames]


def of_kit(kind, edge, frames):
    """The messages that the stage gets for a message of the kit, and further
    messages to the kit."""
    if not acts(kind, edge):
        return [frames], []
    if fault == "deafens":
        return ([] if not args or seen[kind] == int(args[0]) else [frames]), []
    if fault == "mishears":
        return [changed(frames, *args)], []
    if fault == "keeps":
        first_values.append(msgpack.unpackb(frames[1])[args[0]])
        return [changed(frames, args[0], json.dumps(first_values[0]))], []
    if fault == "misled":
        return [bared(frames)], []
    if fault == "echoes":
        return [frames], [last[args[0]]] if args[0] in last else []
    return [frames], []


context = zmq.Context()
poller = zmq.Poller()


class Edge:
    """The stage binds an edge, or the kit does if the stage is an augmenter.  The
    other side connects to this proxy."""

    def __init__(self, name):
        ours, theirs = kit_dir, stage_dir
        if role == "augment":
            ours, theirs = theirs, ours
        os.makedirs(ours, exist_ok=True)
        self.name, self.there = name, "ipc://%s/%s" % (theirs, name)
        self.router = context.socket(zmq.ROUTER)
        self.router.linger = 0
        self.router.bind("ipc://%s/%s" % (ours, name))
        poller.register(self.router, zmq.POLLIN)
        self.dealers = {}

    def dealer(self, peer):
        if peer not in self.dealers:
            dealer = context.socket(zmq.DEALER)
            dealer.linger = 0
            dealer.connect(self.there)
            poller.register(dealer, zmq.POLLIN)
            self.dealers[peer] = dealer
        return self.dealers[peer]

    def pass_on(self, frames, peer, to_stage, to_kit, is_stage):
        kind = frames[0].decode().partition(".")[2]
        seen[kind] = seen.get(kind, 0) + 1
        if is_stage:
            there, back = of_stage(kind, self.name, frames), []
            for message in there:
                to_kit(peer, message)
        else:
            there, back = of_kit(kind, self.name, frames)
            for message in there:
                to_stage(peer, message)
            for message in back:
                to_kit(peer, message)

    def to_router(self, peer, message):
        self.router.send_multipart([peer, *message])

    def to_dealer(self, peer, message):
        dealer = self.dealer(peer)
        if fault != "shuns" or list(self.dealers).index(peer) + 1 != \
                int(args[0]):
            dealer.send_multipart(message)

    def move(self, ready):
        augments = role == "augment"
        to_stage = self.to_router if augments else self.to_dealer
        to_kit = self.to_dealer if augments else self.to_router
        if self.router in ready:
            peer, *frames = self.router.recv_multipart()
            self.pass_on(frames, peer, to_stage, to_kit, augments)
        for peer, dealer in list(self.dealers.items()):
            if dealer in ready:
                self.pass_on(dealer.recv_multipart(), peer, to_stage, to_kit,
                             not augments)
            if fault == "lives" and seen.get(since[0], 0) >= since[1] and \
                    only in (None, self.name):
                dealer.send_multipart([b"foil3." + which.encode(),
                                       msgpack.packb({})])


edges = [Edge(name) for name in EDGES[role]]
while True:
    ready = dict(poller.poll(500))
    for edge in edges:
        edge.move(ready)
