#!/usr/bin/python3
"""A selector's leases, seen from two augmenters of a trainer that computes.

usage: leases.py ENDPOINT      the selector's lease is 0.5 seconds

Says what happened as words on a line: `kept`, the item stayed with its holder
while no newer snapshot came; `moved`, it went to the other one after.
"""
import sys
import time

import msgpack
import zmq

context = zmq.Context()
hello = {"stage": "augment", "version": 2, "run": "", "recipe": "r",
         "dataset": {"digest": "", "size": 13}}
peers, given = {}, []


def say(to, kind, **head):
    peers[to].send_multipart([b"foil2." + kind, msgpack.packb(head)])


def snapshot(peer, serial, room):
    say(peer, b"next", session=1, epoch=0, step=0, serial=serial, window=1,
        room=room)


def hear(seconds, until=lambda: False):
    """Keeps who is given an item; all say that they live."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        for peer, socket in peers.items():
            while socket.poll(20):
                kind, head, *_ = socket.recv_multipart()
                if kind == b"foil2.item":
                    given.append(peer)
                heard.add((peer, kind))
            say(peer, b"beat")


heard = set()
for name in "one", "two":
    peers[name] = context.socket(zmq.DEALER)
    peers[name].connect(sys.argv[1])
    say(name, b"hello", **hello, peer=name)
    hear(30, lambda: (name, b"foil2.hello") in heard)
snapshot("one", 1, 1)
hear(30, lambda: given)
snapshot("two", 1, 2)
hear(2)
words = ["kept"] if given == ["one"] else []
snapshot("two", 2, 2)
hear(30, lambda: len(given) > 1)
words += ["moved"] if given == ["one", "two"] else []
print(*words, given)
context.destroy(linger=0)
