"""Stands between a sound stage and the conformance kit, and breaks a rule of
foil-wire(5): broken.py ROLE FAULT DIR FRONT.  The stage has the run directory
DIR, the kit FRONT."""

import os
import struct
import sys

import msgpack
import zmq

role, fault, stage_dir, kit_dir = sys.argv[1:]
EDGES = {"select": ["plan"], "augment": ["plan", "batch"], "train": ["batch"],
         "negatives": ["negatives"]}


def claims_another_role(kind, frames):
    if kind == "hello":
        head = msgpack.unpackb(frames[1])
        head["stage"] = "tap"
        frames = [frames[0], msgpack.packb(head), *frames[2:]]
    return [frames]


def hurries(kind, frames):
    head = {"session": 1, "epoch": 0, "step": 0, "run": "", "size": 64,
            "steps": 8, "epochs": 4, "tensors": [["ids", "i8", [1]]]}
    item = [b"foil2.item", msgpack.packb(head), struct.pack("<q", 3)]
    return [frames, item] if kind == "hello" else [frames]


def doubles(which):
    return lambda kind, frames: [frames] * (2 if kind == which else 1)


def hides(which):
    return lambda kind, frames: [] if kind == which else [frames]


first = []


def repeats_itself(kind, frames):
    if kind == "next":
        first[:] = first or frames
        return [list(first)]
    return [frames]


def doubles_weights(kind, frames):
    if kind == "weights":
        n = len(frames[2]) // 4
        w = struct.unpack("<%df" % n, frames[2])
        frames = [*frames[:2], struct.pack("<%df" % n, *(2 * x for x in w)),
                  *frames[3:]]
    return [frames]


FAULTS = {
    "claims-another-role": claims_another_role,
    "hurries": hurries,
    "doubles-items": doubles("item"),
    "doubles-batches": doubles("batch"),
    "hides-errors": hides("error"),
    "hides-next": hides("next"),
    "repeats-itself": repeats_itself,
    "doubles-weights": doubles_weights,
}
breaks = FAULTS[fault]
context = zmq.Context()
poller = zmq.Poller()


class Edge:
    """The stage binds an edge, or the kit does where the stage is an augmenter:
    whoever connects comes to us."""

    def __init__(self, name):
        ours, theirs = kit_dir, stage_dir
        if role == "augment":
            ours, theirs = theirs, ours
        os.makedirs(ours, exist_ok=True)
        self.there = "ipc://%s/%s" % (theirs, name)
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

    def passed(self, frames, of_stage):
        kind = frames[0].decode().partition(".")[2]
        return breaks(kind, frames) if of_stage else [frames]

    def move(self, ready):
        if self.router in ready:
            peer, *frames = self.router.recv_multipart()
            for message in self.passed(frames, role == "augment"):
                self.dealer(peer).send_multipart(message)
        for peer, dealer in list(self.dealers.items()):
            if dealer in ready:
                frames = dealer.recv_multipart()
                for message in self.passed(frames, role != "augment"):
                    self.router.send_multipart([peer, *message])


edges = [Edge(name) for name in EDGES[role]]
while True:
    ready = dict(poller.poll(1000))
    for edge in edges:
        edge.move(ready)
