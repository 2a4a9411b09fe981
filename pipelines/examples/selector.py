#!/usr/bin/python3
"""A whole stage by foil-wire(5) alone, without foil.py: a selector that shuffles,
with leases.  usage: selector.py RUN BATCH EPOCHS DATA"""
import os
import random
import signal
import struct
import subprocess
import sys
import time

import msgpack
import zmq

LEASE, SILENCE, LOOK = 10, 3, 0.1
run, data = sys.argv[1], sys.argv[4]
BATCH, EPOCHS = map(int, sys.argv[2:4])
about = dict(line.split("\t", 1) for line in subprocess.check_output(
    ["foil-data", "info", data], text=True).splitlines())
DIGEST, SIZE = about["digest"], int(about["samples"])
STEPS = SIZE // BATCH
LAST = STEPS * EPOCHS  # steps in all; places are numbers below

sock = zmq.Context().socket(zmq.ROUTER)
sock.setsockopt(zmq.ROUTER_MANDATORY, 1)
sock.bind(f"ipc://{run}/plan")
hello = {"stage": "select", "version": 3, "run": "",
         "dataset": {"digest": DIGEST, "size": SIZE},
         "peer": f"select-{os.getpid()}-{time.time_ns()}"}


class Peer:
    def __init__(self, conn, name, now):
        self.conn, self.name, self.last_seen, self.suspect = conn, name, now, None
        self.session, self.room, self.over = None, 0, False
        self.late, self.aside, self.served, self.refused = 0, 0.0, 0, 0


peers = {}          # by connection
at = None           # the newest snapshot: session, serial, first, window, have
leases = {}         # of places: [peer, time handed out, time found late]
progressed = came = end_sent = time.monotonic()
turn = 0


def send(peer, kind, head, *tensors):
    try:
        sock.send_multipart([peer.conn, b"foil3." + kind, msgpack.packb(head),
                             *tensors])
    except zmq.ZMQError:
        leave(peer)


def leave(peer):
    peers.pop(peer.conn, None)
    for place in [p for p, lease in leases.items() if lease[0] is peer]:
        del leases[place]


def place_head(place):
    return {"session": at[0], "epoch": place // STEPS, "step": place % STEPS}


def take_next(peer, h, tensors, now):
    """A snapshot of the consumer, of this or another session."""
    global at, progressed, came
    first = h["epoch"] * STEPS + h["step"]
    have = {e * STEPS + s for e, s in struct.iter_unpack("<2q", tensors[0])} \
        if tensors else set()
    again = peer.session is not None
    peer.room, peer.session = h.get("room", h["window"]), h["session"]
    if at and (h["session"], h["serial"]) <= at[:2]:
        return
    came = now if again else came
    if not at or at[0] != h["session"]:
        leases.clear()
        progressed = now
        for other in peers.values():
            other.late, other.aside, other.over = 0, 0.0, False
    elif first < at[2]:
        leases.clear()
    if at and first != at[2]:
        progressed = now
    at = h["session"], h["serial"], first, h["window"], have
    for place in [p for p in leases if p < first or p in have]:
        owner = leases.pop(place)[0]
        owner.late, owner.aside = 0, 0.0


def serve(now):
    """Hands out requested places, the lowest first, to peers with room."""
    global turn
    wanted = [p for p in range(at[2], min(at[2] + at[3], LAST))
              if p not in leases and p not in at[4]]
    while wanted:
        held = lambda peer: sum(1 for x in leases.values() if x[0] is peer)
        there = [p for p in peers.values() if p.session == at[0]]
        all_late = all(p.late for p in there)
        can = [p for p in there
               if held(p) < (1 if p.late and not all_late else p.room)
               and (all_late or p.aside <= now)]
        if not can:
            return
        peer = min(can, key=lambda p: (p.late, held(p) - p.room, p.served))
        place = wanted.pop(-1 if peer.late and not all_late else 0)
        turn += 1
        peer.served = turn
        leases[place] = [peer, now, None]
        epoch, step = divmod(place, STEPS)
        order = random.Random(epoch).sample(range(SIZE), SIZE)
        ids = order[step * BATCH:(step + 1) * BATCH]
        send(peer, b"item", {
            **place_head(place), "run": "", "size": SIZE, "steps": STEPS,
            "epochs": EPOCHS, "tensors": [["ids", "i8", [BATCH]]]},
            struct.pack(f"<{BATCH}q", *ids))


def check_peers(now):
    """A silent peer has left; one with an expired lease is late."""
    for peer in list(peers.values()):
        if now - peer.last_seen <= SILENCE:
            peer.suspect = None
        elif peer.suspect is None:
            peer.suspect = now
        elif now - peer.suspect > LOOK:
            leave(peer)
    for lease in list(leases.values()):
        if now <= lease[1] + LEASE:
            continue
        if lease[2] is None:
            lease[2] = now
        elif came > lease[2] + LOOK:
            peer = lease[0]
            print(f"'{peer.name}' did not deliver", file=sys.stderr)
            peer.aside = now + 4 * LEASE * 2 ** peer.late
            peer.late += 1
            for place in [p for p, x in leases.items() if x[0] is peer]:
                del leases[place]
            break


def is_over(now):
    """Sends the end of the plan; returns whether the run is over."""
    global end_sent
    if at[2] + at[3] > LAST and now - end_sent >= 1:
        end_sent = now
        for peer in list(peers.values()):
            send(peer, b"end", place_head(LAST))
    over = sum(p.over for p in peers.values())
    if not (over and (over == len(peers) or now - progressed > 30) or
            at[2] >= LAST and now - progressed > 6):
        return False
    for peer in list(peers.values()):
        send(peer, b"end", {**place_head(at[2]), "over": True})
    return True


def fault_of(kind, h, tensors):
    """The reason to refuse a message, or None."""
    if kind not in (b"want", b"end", b"heartbeat", b"reject", b"error"):
        return "unexpected kind"
    whole = lambda name, bits: type(h.get(name)) is int and \
        0 <= h[name] < 2 ** bits
    if kind in (b"want", b"end", b"reject"):
        if not (whole("session", 63) and whole("epoch", 32) and
                whole("step", 48)):
            return "invalid place"
        if h["session"] > time.time_ns() + 86400 * 10 ** 9:
            return "the session lies more than a day ahead"
    if kind == b"want" and not (
            whole("serial", 63) and whole("window", 13) and h["window"] and
            len(tensors) <= 1 and all(len(t) % 16 == 0 for t in tensors)):
        return "invalid 'serial', 'window' or 'have'"
    return None


def greet(conn, h, now):
    stranger = Peer(conn, h.get("peer", ""), now)
    theirs = h.get("dataset", {})
    why = f"peer speaks foil{h.get('version')}, this is foil3" \
        if h.get("version") != 3 else "data sets differ" \
        if theirs.get("digest") and (
            theirs["digest"], theirs.get("size")) != (DIGEST, SIZE) else None
    if why:
        return send(stranger, b"error", {"reason": why})
    for other in [p for p in peers.values()
                  if p.name == stranger.name and p.conn != conn]:
        leave(other)  # the new one replaces it
    peers.setdefault(conn, stranger).last_seen = now
    send(peers[conn], b"hello", hello)


def handle(conn, kind, h, tensors, now):
    peer = peers.get(conn)
    if kind == b"hello":
        return greet(conn, h, now)
    if not peer:
        return send(Peer(conn, "", now), b"error",
                    {"reason": "who are you?", "rehello": True})
    peer.last_seen = now
    why = fault_of(kind, h, tensors)
    if why:
        peer.refused += 1
        send(peer, b"error", {"reason": why, "kind": kind.decode()})
        if peer.refused >= 64:
            leave(peer)
        return None
    peer.refused = 0
    if kind == b"want":
        take_next(peer, h, tensors, now)
    elif kind == b"end" and at and h["session"] == at[0]:
        peer.over = True
    return None


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
while True:
    while sock.poll(50):
        conn, kind, head, *tensors = sock.recv_multipart()
        try:
            h = msgpack.unpackb(head)
            ours = kind.startswith(b"foil3.") and isinstance(h, dict)
        except ValueError:
            ours = False
        if ours:
            handle(conn, kind[6:], h, tensors, time.monotonic())
        if at:
            break
    now = time.monotonic()
    check_peers(now)
    if at:
        serve(now)
        if is_over(now):
            break
sock.context.destroy(linger=2000)
