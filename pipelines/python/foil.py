"""Stages of foil in Python: a trainer, a selector, an augmenter, a sampler.

    import foil

    trainer = foil.Trainer("run")         # in place of foil-train
    for batch in trainer:                 # in the order of the plan
        z = ...                           # of batch.views, with any framework
        batch.done(z=z, loss=loss)

    foil.select("run", "d.foil", plan, epochs=10)  # of foil-select
    foil.augment("run", "d.foil", view)            # of foil-augment
    foil.negatives("run", weigh)                   # of foil-negatives

    for batch in foil.views("d.foil", batch=128):  # views for a loop of one's
        ...                                        # own, by foil-augment

    o = foil.options("data", run=str, epochs=10)   # of the command line
    foil.events("run", "metrics"), foil.Dataset("d.foil"),
    foil.features("x.npy"), foil.checkpoint("run"), foil.save_checkpoint(...)

It speaks version 2 of foil-wire(5); foil-python(7) is its manual.  One file;
needs python3-zmq, python3-msgpack, python3-numpy, and foil's tools on PATH.

Sockets live in a thread, so that a step, a plan or a view may take as long as
it likes.  What decides, the machines of foil-wire(5), touches no socket and no
clock: Binder, Caller, Producer, Consumer, Relay, Client, Service, State,
Mirror.
"""
import argparse
import atexit
import collections
import fcntl
import glob
import ipaddress
import json
import math
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import types

import msgpack
import numpy as np
import zmq

VERSION = 2
SILENCE = 3.0  # seconds after which a peer is gone
LOOK = 0.1     # between two looks, of which the second counts
PEERS = 1024   # a binder greets no more

# ------------------------------------------------------------------ messages

MAGIC = b"foil2."
TYPES = {"u1": "u1", "i4": "<i4", "i8": "<i8", "f4": "<f4", "f8": "<f8",
         "f2": "<f2", "bf": "<u2"}
CODES = {np.dtype(t): code for code, t in TYPES.items() if code != "bf"}


class Refused(ValueError):
    """A message that does not fit: it changes nothing."""


def pack(kind, head=None, tensors=None):
    """The frames of a message; arrays are lent, not copied."""
    head, frames = dict(head or {}), []
    for name, t in (tensors or {}).items():
        t = np.ascontiguousarray(t)
        code = CODES[t.dtype.newbyteorder("<")]
        head.setdefault("tensors", []).append([name, code, list(t.shape)])
        frames.append(t.reshape(-1).view("u1").data if t.size else b"")
    return [MAGIC + kind.encode(), msgpack.packb(head), *frames]


def _no_twins(items):
    items = list(items)
    head = dict(items)
    if len(head) < len(items):
        raise Refused("a key is there twice")
    return head


def unpack(frames):
    """kind, header and tensors, which are views of the frames' memory."""
    first = bytes(frames[0])
    if not first.startswith(MAGIC):
        theirs = first.split(b".")[0].decode("ascii", "replace")[:32]
        raise Refused(f"peer speaks {theirs}, this is foil2")
    kind = first[len(MAGIC):].decode("ascii", "replace")
    if kind not in KINDS:
        raise Refused(f"no message '{kind[:32]}'")
    if len(frames) < 2 or len(frames[1]) > 65536:
        raise Refused(f"{kind}: no header of at most 65536 bytes")
    try:
        head = msgpack.unpackb(bytes(frames[1]), object_pairs_hook=_no_twins,
                               max_ext_len=0)
    except Refused:
        raise
    except Exception as e:
        raise Refused(f"{kind}: the header is no msgpack: {e}") from None
    if not isinstance(head, dict):
        raise Refused(f"{kind}: the header is no map")
    return kind, head, _tensors(kind, head.pop("tensors", []), frames[2:])


def _tensors(kind, about, parts):
    out = {}
    if not isinstance(about, list) or len(about) > 64:
        raise Refused(f"{kind}: 'tensors' is no list of at most 64")
    if len(about) != len(parts):
        raise Refused(f"{kind}: {len(parts)} tensors, {len(about)} announced")
    for entry, part in zip(about, parts):
        try:
            name, code, shape = entry
            count = math.prod(shape)
            dtype = np.dtype(TYPES[code])
            if min(shape, default=0) < 0 or len(shape) > 6 or name in out \
                    or count * dtype.itemsize != len(part):
                raise ValueError
            out[name] = np.frombuffer(part, dtype, count).reshape(shape)
        except (TypeError, ValueError, KeyError):
            raise Refused(f"{kind}: tensor {entry!r:.80} makes no sense") \
                from None
    return out


# What a message consists of: fields, then tensors.  In brackets is what may be
# missing.  w: whole number below 2^N; n: the same, from 1; r: real; t: text of
# at most N bytes; b: bool; m: map; l: list.  A letter of a tensor's sizes is
# the same size in all of a message; id: i8, samples of the data set; half: f4
# or f2.
_PLACE = "session:w63 epoch:w32 step:w48 "
_VIEWS = "[reserve]:w17 [augmentations]:n16 [hint_values]:m "
_OF_EXTRA = (" [extra_view]:i8(r) [extra_epoch]:i8(r) [hint_row]:i4(r)"
             " [hint_view]:i4(r) [hint_log_q]:f4(r) [variants]:i8(v,b)")
KINDS = {
    "hello": "stage:t31 version:w31 run:t127 dataset:m peer:t63 [recipe]:t63"
             " [sampler]:t63 [max_batch]:w63 [part]:l",
    "error": "reason:t511 [again]:b [state]:b [id]:w63 [kind]:t31"
             " [session]:w63 [epoch]:w32 [step]:w48 [count]:w63",
    "next": _PLACE + "serial:n63 window:n13 [room]:n13 / [have]:i8(k,2)",
    "end": _PLACE + "[over]:b",
    "beat": "[room]:n12 [items]:w13 [ready]:w13 [made]:w48 [source]:t31",
    "reject": _PLACE + "reason:t255 / ids:id(n)",
    "item": _PLACE + "run:t127 size:n48 steps:n48 epochs:n32 [encode_only]:b "
            + _VIEWS + "/ ids:id(b) [extra]:id(r)" + _OF_EXTRA,
    "batch": _PLACE + "steps:n48 epochs:n32 height:n13 width:n13 channels:n13"
             " rejected:w17 [substituted]:l [encode_only]:b " + _VIEWS +
             "/ ids:id(b) views:u1(v,b,h,w,c) [extra_ids]:id(r)"
             " [extra]:u1(r,h,w,c)" + _OF_EXTRA,
    "pairs": "id:w63 " + _PLACE + "beta:r " + _VIEWS + "/ ids:id(b)"
             " z:f4(v,b,d) [extra_ids]:id(r) [extra_z]:f4(r,d)" + _OF_EXTRA,
    "weights": "id:w63 accepted:r moved:w63 [values]:m [store]:l"
               " [partial]:b"
               " / w:f4(a,n) [scale]:f4(a,2)",
    "state.put": "id:w63 " + _PLACE + "sampler:t63 total:w63 tables:l"
                 " [from]:w63 [last]:b [fresh]:b",
    "state.ok": "id:w63 " + _PLACE,
    "features": "[sequence]:w63 epoch:w32 step:w48 mode:t31 dim:n17 [id]:w63"
                " [next]:n48 / ids:id(b) z:half(v,b,d)",
    "features.get": "id:n63 epoch:w32 from:w48 [half]:b [plan]:w32",
    "plan": "id:n63 epoch:w32 strategy:t31 values:m",
    "event": "sequence:w63 what:t31 epoch:w32 step:w48 [path]:t1023"
             " [reason]:t255",
    "metrics": "sequence:w63 stage:t31 step:w63 values:m",
    "status": "sequence:w63 stage:t31 number:n63 values:m",
}
_RULES = {kind: [[re.fullmatch(r"(\[)?([\w.]+)\]?:([a-z]+\d*)(?:\((.*)\))?",
                               word).groups() for word in half.split()]
                 for half in (text.split("/") + [""])[:2]]
          for kind, text in KINDS.items()}
_CODES = {"id": ["i8"], "half": ["f4", "f2"]}
_PYTHON = {"t": str, "b": bool, "m": dict, "l": list}


def _fits(value, rule):
    kind, most = rule[0], int(rule[1:] or 0)
    if kind in "wn":
        return type(value) is int and (kind == "n") <= value < 2 ** most \
            or kind == "n" and value == 2 ** most and type(value) is int
    if kind == "r":
        return type(value) in (int, float) and math.isfinite(value)
    return isinstance(value, _PYTHON[kind]) and \
        (kind != "t" or len(value.encode()) <= most and "\0" not in value)


def judge(kind, head, tensors, size=0, now=None):
    """Refuses a message whose fields or tensors are not as foil-wire(5) says.

    size is that of the data set, 0 where it is not known; now is the time in
    seconds since 1970, for a session that cannot be.
    """
    fields, arrays = _RULES[kind]
    for optional, name, rule, _ in fields:
        if name not in head:
            if not optional:
                raise Refused(f"{kind}: '{name}' is missing")
        elif not _fits(head[name], rule):
            raise Refused(f"{kind}: '{name}' is not as it should be: "
                          f"{head[name]!r:.60}")
    letters = {}
    for optional, name, dtype, sizes in arrays:
        if name not in tensors:
            if not optional:
                raise Refused(f"{kind}: tensor '{name}' is missing")
            continue
        t, sizes = tensors[name], sizes.split(",")
        fits = t.dtype in [np.dtype(TYPES[code]) for code in _CODES.get(
            dtype, [dtype])] and t.ndim == len(sizes) and t.size
        for letter, n in zip(sizes, t.shape):
            fits = fits and n == (int(letter) if letter.isdigit()
                                  else letters.setdefault(letter, n))
        if not fits:
            raise Refused(f"{kind}: tensor '{name}' is {t.dtype}{t.shape}, "
                          f"want {dtype} [{','.join(sizes)}]")
        if dtype == "id" and (t.min() < 0 or size and t.max() >= size):
            raise Refused(f"{kind}: '{name}' names a sample outside of the "
                          "data set")
    _judge_whole(kind, head, tensors, now)


def _judge_whole(kind, head, tensors, now):
    if kind in ("item", "batch"):
        for one, more in (("step", "steps"), ("epoch", "epochs")):
            if head[one] >= head[more]:
                raise Refused(f"{kind}: {one} {head[one]} is not below "
                              f"{more} {head[more]}")
        if len(np.unique(tensors["ids"])) < tensors["ids"].size:
            raise Refused(f"{kind}: a sample is in 'ids' twice")
        if "shard" in head:
            raise Refused(f"{kind}: shards of an item are not put together "
                          "yet, batches have to be whole")
    if now is not None and head.get("session", 0) > (now + 86400) * 1e9:
        raise Refused(f"{kind}: the session lies more than a day ahead")


def session_after(before, clock):
    """The session of a trainer that starts, in nanoseconds since 1970: above
    the one before, for the clock may have been set back; but one that lies more
    than a day ahead would be refused by all."""
    return clock if before < clock or before - clock > 86400 * 10 ** 9 \
        else before + 1


def place_of(head):
    return head["epoch"], head["step"]


def _at(session, place):
    return {"session": session, "epoch": place[0], "step": place[1]}


# ------------------------------------------------- machines: who is at the end

class Peer:
    def __init__(self, conn, name, hello, now):
        self.conn, self.name, self.hello = conn, name, hello
        self.heard, self.suspect = now, None
        self.count = self.row = 0   # messages refused: in all, in a row
        self.told, self.second = 0, 0.0
        self.lost = False           # it cannot be sent to any more


def unfit(mine, theirs):
    """Why two hellos do not fit, or None."""
    if theirs["version"] != VERSION:
        return f"peer speaks foil{theirs['version']}, this is foil{VERSION}"
    if not theirs["peer"]:
        return "hello: 'peer' is empty"
    if "part" in theirs:
        return (f"{theirs['stage']} is a part of several: runs of several "
                "trainers are not put together yet")
    if mine["run"] and theirs["run"] and mine["run"] != theirs["run"]:
        return f"this is run '{mine['run']}', not '{theirs['run']}'"
    a, b = ((h["dataset"].get("digest", ""), h["dataset"].get("size", 0))
            for h in (mine, theirs))
    if a[0] and b[0] and a != b:
        return (f"data sets differ: {a[0]:.8} of {a[1]} here, {b[0]:.8} of "
                f"{b[1]} there")
    a, b = mine.get("recipe", ""), theirs.get("recipe", "")
    if a and b and a != b:
        return f"views are made as '{a}' in this run, not as '{b}'"
    return None


class Binder:
    """The greeting of a binder: knows peers by the name in their hello.

    hello    ours; where it names no data set or recipe, those of the first
             peer are taken
    patient  of a service: silence says nothing
    """

    def __init__(self, hello, patient=False):
        self.hello, self.peers, self.names = dict(hello), {}, {}
        self.strangers, self.silent, self.patient = {}, {}, patient
        self.left = []  # names, to be told by gone()

    def hear(self, now, conn, kind, head):
        """Takes a message: (answers, name of the peer or None, joined)."""
        name = self.names.get(conn)
        if kind == "hello":
            why = unfit(self.hello, head) or self._unwanted(conn, head)
            if why:
                return [("error", {"reason": why})], None, False
            self._greet(now, conn, head)
            return [("hello", self.hello)], None, name is None
        if name is None:
            return self._stranger(now, conn, kind), None, False
        self.peers[name].heard = now
        return [], name, False

    def _greet(self, now, conn, head):
        name = self.names.get(conn)
        if name:  # a second hello
            self.peers[name].heard = now
            return
        name = head["peer"]
        if name in self.peers:  # the new one takes its place
            self.names.pop(self.peers.pop(name).conn, None)
        if len(self.peers) >= PEERS:  # of a service: who was silent longest
            oldest = min(self.peers, key=lambda p: self.peers[p].heard)
            self.leave(oldest)
            self.left.append(oldest)
        self.peers[name], self.names[conn] = Peer(conn, name, head, now), name
        self.silent.pop(conn, None)
        for key in ("dataset", "recipe"):
            if key in self.hello and not self._known(key):
                self.hello[key] = head.get(key, self.hello[key])

    def _known(self, key):
        mine = self.hello[key]
        return bool(mine["digest"] if key == "dataset" else mine)

    def _unwanted(self, conn, head):
        if self.hello.get("recipe") is not None and not head.get("recipe"):
            return "hello: who makes views has a 'recipe'"
        if len(self.peers) >= PEERS and not self.patient and \
                conn not in self.names and head["peer"] not in self.peers:
            return f"more than {PEERS} peers"
        return None

    def _stranger(self, now, conn, kind):
        if now - self.strangers.get(conn, -1) < 1:
            return []
        self.strangers.pop(conn, None)
        if len(self.strangers) >= PEERS:
            del self.strangers[next(iter(self.strangers))]
        self.strangers[conn] = now
        return [("error", {"reason": "who are you?", "again": True})]

    def gone(self, now):
        """Names of peers that have left; to be called when all that is there
        is read."""
        out, self.left = self.left, []
        for name, peer in list(self.peers.items()):
            if peer.lost:
                out.append(name)
                self.leave(name)
            elif self.patient or now - peer.heard <= SILENCE:
                peer.suspect = None
            elif peer.suspect is None:
                peer.suspect = now
            elif now - peer.suspect >= LOOK:
                out.append(name)
                self.leave(name)
        return out

    def leave(self, name):
        peer = self.peers.pop(name)
        self.names.pop(peer.conn, None)
        self.silent[peer.conn] = name

    def refuse(self, now, name, reason, kind="", place=None, session=0):
        """Counts a refused message: (answer or None, sentence or None, whether
        its sender is sent away)."""
        peer = self.peers[name]
        peer.count += 1
        peer.row += 1
        say = None
        if peer.count & (peer.count - 1) == 0:
            say = f"{name}: {reason} (refused: {peer.count})"
        if peer.row >= 64:
            self.leave(name)
            return ("error", {"reason": f"64 messages were refused: {reason}"
                              [:500]}), say, True
        if now - peer.second >= 1:
            peer.second, peer.told = now, 0
        peer.told += 1
        if kind == "error" or peer.told > 16:
            return None, say, False
        head = {"reason": reason[:500], "kind": kind, "count": peer.count}
        if place:
            head.update(_at(session, place))
        return ("error", head), say, False

    def good(self, name):
        if name in self.peers:
            self.peers[name].row = 0


class Occupied(SystemExit, RuntimeError):
    """A run directory that cannot be taken: where nobody catches it, the
    program ends with the sentence and exit code 1."""

    def __init__(self, why):
        super().__init__(f"{os.path.basename(sys.argv[0] or 'foil.py')}: {why}")


class Unfit(RuntimeError):
    """The binder will not have us: the reason."""


class Caller:
    """The greeting of who connects."""

    def __init__(self, hello):
        self.hello, self.joined, self.said = dict(hello), False, None
        self.who = None  # the binder's hello

    def tick(self, now):
        """What is to be said now."""
        if self.joined or self.said is not None and now - self.said < 1:
            return []
        self.said = now
        return [("hello", self.hello)]

    def begin(self):
        """The connection is a new one."""
        self.joined, self.said = False, None

    def hear(self, now, kind, head):
        """Takes a message: whether it is for the role; "joined" when we are
        known from here on."""
        if kind == "hello":
            why = unfit(self.hello, head)
            if why:
                raise Unfit(f"{head['stage']}: {why}")
            if self.joined or self.said is None:
                return False
            self.joined, self.who = True, head
            return "joined"
        if kind == "error" and head.get("again"):
            if self.joined:  # or a hello is under way
                self.begin()
            return False
        if kind == "error" and not ({"id", "kind"} & set(head)):
            raise Unfit(head["reason"])
        return self.joined or kind == "error" and "kind" in head


# --------------------------------------------------- machines: items and views

class Snapshot(collections.namedtuple(
        "Snapshot", "session serial place window have")):
    """What a consumer wants: of `window` items from `place` on those that are
    not in `have`."""

    @classmethod
    def of(cls, head, tensors):
        have = tensors.get("have", np.zeros((0, 2), "i8"))
        return cls(head["session"], head["serial"], place_of(head),
                   head["window"], frozenset(map(tuple, have.tolist())))

    def message(self, room=None):
        head = {**_at(self.session, self.place), "serial": self.serial,
                "window": self.window}
        if room is not None:
            head["room"] = room
        have = np.array(sorted(self.have), "i8").reshape(-1, 2)
        return "next", head, {"have": have} if len(have) else {}

    def newer(self, other):
        return other is None or \
            (self.session, self.serial) > (other.session, other.serial)

    def wants(self, place):
        return place >= self.place and place not in self.have


NOTHING = Snapshot(0, 0, (0, 0), 1, frozenset())


class Consumer:
    """Takes items or batches in, in the order of the plan."""

    def __init__(self, session, place, window):
        self.session, self.place, self.window = session, place, window
        self.held, self.busy, self.ends = {}, None, {}
        self.quiet = None  # since when all say end
        self.serial, self.made, self.sent = 1, 0.0, 0.0
        self.changed, self.epochs = False, None

    def wants(self, session, place):
        return session == self.session and place >= self.place and \
            place != self.busy and place not in self.held

    def hold(self, place, item):
        """Keeps one that is wanted, unless there is no room for it; who said
        that nothing is there was wrong."""
        self.ends = {p: e for p, e in self.ends.items() if e > place}
        if len(self.held) + (self.busy is not None) >= self.window:
            last = max(self.held, default=place)
            if last <= place:
                return False
            del self.held[last]
        self.held[place] = item
        self.changed = True
        return True

    def take(self):
        """The one whose turn it is, or None."""
        if self.place not in self.held:
            return None
        self.busy = self.place
        return self.held.pop(self.place)

    def go(self, place):
        """Every item before a place is done."""
        self.place, self.busy, self.changed = place, None, True
        self.held = {p: x for p, x in self.held.items() if p >= place}

    def snapshot(self):
        have = set(self.held) | ({self.busy} if self.busy else set())
        return Snapshot(self.session, self.serial, self.place, self.window,
                        frozenset(have))

    def tick(self, now, waiting):
        """1 when all peers are to hear the snapshot: it is new, or a second
        has gone by."""
        if not self.made:  # the first one, which stands already
            self.made = self.sent = now
            return True
        if self.changed and now - self.made >= 0.01 or \
                waiting and now - self.made >= 1:
            self.changed, self.made = False, now
            self.serial += 1
            self.sent = now
            return True
        if now - self.sent < 1:
            return False
        self.sent = now
        return True

    def end(self, peer, place):
        self.ends[peer] = place

    def over(self, now, peers):
        """Whether the plan is over: all peers say so, for three seconds."""
        if self.epochs is not None and self.place[0] >= self.epochs:
            return True
        if not peers or not all(self.ends.get(p, (math.inf, 0)) <= self.place
                                for p in peers):
            self.quiet = None
            return False
        if self.quiet is None:
            self.quiet = now
        return now - self.quiet >= 3


class _Holder:  # what a producer knows of a peer
    def __init__(self):
        self.room, self.served = 0, 0
        self.session = self.serial = None    # of the snapshot that it said last
        self.late, self.aside = 0, 0.0       # times in a row, and until when
        self.refused, self.blocked = 0, 0.0  # the same of refusals

    def deliver(self):
        self.late, self.aside, self.refused = 0, 0.0, 0


class Producer:
    """Hands out items with leases, by the table of foil-wire(5).

    steps   function of an epoch: how many it has, None when not known yet
    """

    LAPSE, INSISTS = 3.0, 1.0  # seconds until an older snapshot counts

    def __init__(self, steps, epochs, lease=10.0, name="augmenter"):
        self.steps, self.epochs, self.lease, self.name = \
            steps, epochs, lease, name
        self.now, self.peers, self.leases = None, {}, {}
        self.over, self.moved = set(), 0.0  # who says so; None: who has left
        self.came = self.said = 0.0  # a new one; the newest was said again
        self.older, self.turns = None, 0

    # place -> [peer, given, when it was seen to be over, or None]

    def joined(self, peer):
        """A peer, or one of that name on another connection: what was on its
        way to it is free."""
        self.gone(peer)
        self.peers[peer] = _Holder()

    def gone(self, peer):
        """Returns how many items it held."""
        held = [p for p, lease in self.leases.items() if lease[0] == peer]
        for place in held:
            del self.leases[place]
        self.peers.pop(peer, None)
        self.over = {None if name == peer else name for name in self.over}
        return len(held)

    def next(self, now, peer, snapshot, room=1):
        """A peer passed a snapshot on."""
        holder = self.peers.setdefault(peer, _Holder())
        first = holder.session is None  # it may be from long before its hello
        fresh = not first and (snapshot.session != holder.session or
                               snapshot.serial > holder.serial)
        holder.room, holder.session = room, snapshot.session
        holder.serial = snapshot.serial
        if not first and snapshot.newer(self.now):
            self.came = now
        if snapshot.newer(self.now):
            self._adopt(now, snapshot, True)
        elif not self.now.newer(snapshot):
            self.said, self.older = now, None
        elif (fresh or not self.over) and now - self.said >= self.LAPSE:
            self.older = self.older or now
            if now - self.older >= self.INSISTS:
                self._adopt(now, snapshot, False)

    def _adopt(self, now, snapshot, newer):
        was, self.now = self.now, snapshot
        self.said, self.older = now, None
        anew = was is None or was.session != snapshot.session
        if anew or not newer or snapshot.place != was.place:
            self.moved = now
            self.over.discard(None)
        if anew or not newer or snapshot.place < was.place:
            self.leases.clear()
        if anew:
            self.over.clear()
            for holder in self.peers.values():
                holder.late, holder.aside = 0, 0.0
        for place in [p for p in self.leases if not snapshot.wants(p)]:
            holder = self.peers.get(self.leases.pop(place)[0])
            if holder:
                holder.deliver()

    def refuse(self, now, peer, place):
        """A peer refuses an item: it gets nothing for 1 s, 2 .. 32."""
        if place in self.leases and self.leases[place][0] == peer:
            del self.leases[place]
            holder = self.peers[peer]
            holder.blocked = now + min(2 ** holder.refused, 32)
            holder.refused += 1

    def tick(self, now):
        """When all is read: sets who is late aside; returns sentences."""
        out = []
        for place in sorted(self.leases):
            lease = self.leases.get(place)
            if lease is None or now < lease[1] + self.lease:
                continue
            if lease[2] is None:
                lease[2] = now
            elif self.came > lease[2] + LOOK:
                out.append(self._late(now, place, lease))
        return out

    def _late(self, now, place, lease):
        peer, holder = lease[0], self.peers[lease[0]]
        held = [p for p, other in self.leases.items() if other[0] == peer]
        for p in held:
            del self.leases[p]
        aside = 4 * self.lease * 2 ** holder.late
        holder.aside = now + aside
        holder.late += holder.late <= 8
        return (f"{self.name} '{peer}' did not deliver epoch {place[0]}, step "
                f"{place[1]} within {self.lease:g} seconds: its {len(held)} "
                f"items go to others, and it gets none for {aside:g} seconds")

    def wanted(self):
        """The places of the window, in order, as far as they are planned."""
        if self.now is None:
            return
        epoch, step = self.now.place
        for _ in range(self.now.window):
            steps = self.steps(epoch) if epoch < self.epochs else None
            while steps is not None and step >= steps:
                epoch, step = epoch + 1, 0
                steps = self.steps(epoch) if epoch < self.epochs else None
            if steps is None:
                return
            yield epoch, step
            step += 1

    def turn(self, now):
        """The next to be served: (peer, place), or None.  It has the lease."""
        free = [p for p in self.wanted()
                if p not in self.leases and p not in self.now.have]
        there = {p: h for p, h in self.peers.items()
                 if h.session == self.now.session and h.room} if free else {}
        every = all(h.late for h in there.values())  # then it counts for nothing
        out = collections.Counter(lease[0] for lease in self.leases.values())
        best = None
        for peer, h in there.items():
            room = 1 if h.late and not every else h.room
            if h.blocked > now or out[peer] >= room or \
                    not every and h.aside > now:
                continue
            key = h.late, out[peer] - room, h.served
            best = min(best or (key, peer), (key, peer), key=lambda x: x[0])
        if best is None:
            return None
        holder, self.turns = self.peers[best[1]], self.turns + 1
        holder.served = self.turns
        place = free[-1 if holder.late and not every else 0]
        self.leases[place] = [best[1], now, None]
        return best[1], place

    def ended(self, now, peer, session):
        """A peer says that the run is over, as far as it knows."""
        if self.now and session == self.now.session:
            self.moved = self.moved if peer in self.over else now
            self.over.add(peer)

    def finished(self, now):
        """Whether it is: all who are there say so, and one at least; or one
        did, and nothing was trained for 30 s since; or all is, for 6 s."""
        trained = self.now is not None and self.now.place[0] >= self.epochs
        return trained and now - self.moved >= 6 or bool(self.over) and (
            set(self.peers) <= self.over or now - self.moved >= 30)

    def end(self):
        """The place behind the plan when that lies within the window."""
        if self.now is None:
            return None
        last = (self.epochs, 0)
        steps = self.steps(self.epochs - 1)
        if self.now.place[0] >= self.epochs:
            return last
        count = sum(1 for _ in self.wanted())
        return last if steps is not None and count < self.now.window else None


class Entry:  # an item in an augmenter
    def __init__(self, place, item):
        self.place, self.item, self.batch, self.state = place, item, None, "waits"


class Relay:
    """What an augmenter holds between the two edges, by the table of
    foil-wire(5): an item waits, is in the making, made, or its batch is sent
    and the trainer has not said yet that it has it."""

    def __init__(self, room):
        self.most, self.now, self.entries = room, None, {}

    def _count(self, state):
        return sum(e.state == state for e in self.entries.values())

    def room(self):
        """So many items at once, as the producer is told."""
        return min(self.most + self._count("sent"), 4096)

    def next(self, snapshot):
        """Takes the trainer's; True when it is newer, to be handed on."""
        if not snapshot.newer(self.now):
            return False
        if self.now and snapshot.session != self.now.session:
            self.entries = {}
        self.now = snapshot
        self.entries = {p: e for p, e in self.entries.items()
                        if p >= snapshot.place and
                        (e.state == "waits" or snapshot.wants(p))}
        return True

    def put(self, session, place, item):
        """An item: kept where it is wanted and not there; made again where its
        batch was sent."""
        if self.now is None or session != self.now.session or \
                place < self.now.place:
            return
        known = self.entries.setdefault(place, Entry(place, item))
        if known.state == "sent":
            known.state = "waits"

    def lost(self):
        """The connection to the trainer is a new one: what was sent may be
        lost."""
        for e in self.entries.values():
            if e.state == "sent":
                e.state = "waits"

    def _lowest(self, state):
        return min((p for p, e in self.entries.items()
                    if e.state == state and self.now.wants(p)), default=None)

    def take(self):
        """The lowest that waits, which is in the making now, or None."""
        place = self._lowest("waits")
        if place is None or self._count("made") >= self.most:
            return None
        self.entries[place].state = "making"
        return self.entries[place]

    def made(self, entry, batch):
        """Its batch; None: there is none, and it is dropped."""
        if self.entries.get(entry.place) is not entry:
            return  # not wanted any more
        if batch is None or not self.now.wants(entry.place):
            del self.entries[entry.place]
        else:
            entry.state, entry.batch = "made", batch

    def ready(self):
        """The lowest batch, which counts as sent now, or None."""
        place = self._lowest("made")
        if place is None:
            return None
        entry = self.entries[place]
        batch, entry.batch, entry.state = entry.batch, None, "sent"
        return batch


# ------------------------------------------------------- machines: services

class Client:
    """Asks a service, one request at a time, by the table of foil-wire(5).

    state   function: the messages (head, tensors) that hand our copy of its
            state over; None for a service without one
    """

    TRIES = 8  # so often in a row it wants the state, and we give up

    def __init__(self, state=None, patience=10.0):
        self.state, self.patience = state, patience
        self.id, self.left, self.waits = time.time_ns(), [], None
        self.sent, self.asked = None, None  # last: (when, message), request
        self.who, self.met = None, None  # by name; who has our state
        self.ready, self.request, self.answer = False, None, None
        self.tries, self.uses = 0, False  # a step uses the answer

    def _send(self, now, message):
        self.sent = now, message
        return [message]

    def _fresh(self):
        self.id += 1
        return self.id

    def joined(self, now, who=""):
        """The service of that name knows us: what to say."""
        again = who == self.who and self.waits is not None
        self.who, self.ready = who, False
        if again:  # a piece is on its way
            return self._send(now, self.sent[1])
        if self.state and who != self.met and not self.uses:
            return self._begin(now)
        return self._on(now)

    def _begin(self, now):
        """Hands the state over from its first piece on."""
        self.ready, self.met = False, None
        self.left = list(self.state())
        return self._on(now)

    def done(self, now, applied=True):
        """The step is over.  While it uses an answer, what that changes is not
        in our state; where it was not applied, the service is ahead."""
        self.uses = False
        self.met = self.met if applied else None
        if self.ready and self.state and self.met != self.who:
            return self._begin(now)
        return []

    def _on(self, now):
        if self.left:
            head, tensors = self.left.pop(0)
            self.waits = self._fresh()
            return self._send(now, ("state.put", {"id": self.waits, **head},
                                    tensors))
        self.met = self.met if self.uses else self.who
        if self.waits and self.request:  # under an id that is not late
            kind, head, tensors = self.request
            self.request = kind, {**head, "id": self._fresh()}, tensors
        self.ready, self.sent, self.waits = True, None, None
        return self._send(now, self.request) if self.request else []

    def ask(self, now, kind, head, tensors=None):
        self.request = kind, {"id": self._fresh(), **head}, tensors or {}
        self.answer, self.tries = None, 0
        return self._send(now, self.request) if self.ready else []

    def hear(self, now, kind, head, tensors):
        """Takes a message; returns what to say.  Raises Unfit where our state
        is refused."""
        wanted = self.waits if not self.ready else \
            self.request and self.request[1]["id"]
        if head.get("id") != wanted or wanted is None or \
                kind == "error" and "kind" in head:
            return []
        if kind == "error" and head.get("state") and self.state:
            self.tries += 1
            if self.tries >= self.TRIES:
                raise Unfit(head["reason"])
            return self._begin(now)
        if self.ready:
            self.answer, self.uses = (kind, head, tensors), kind != "error"
            self.asked, self.request, self.sent = \
                (self.request, self.sent), None, None
            return []
        if kind == "error":
            raise Unfit(head["reason"])
        return self._on(now) if kind == "state.ok" else []

    def refuse(self):
        """The answer does not fit: it counts as none."""
        self.answer, (self.request, self.sent) = None, self.asked
        self.uses = False

    def silent(self, now):
        """Whether no answer has come in time."""
        return self.sent is not None and now - self.sent[0] > self.patience


class Service:
    """Keeps the last answer to each peer: asked again, it is the same."""

    MOST = 64  # peers

    def __init__(self):
        self.last = {}

    def asked(self, peer, head):
        """The answer that was given to this request already, or that it is
        late, since ids rise; or None."""
        last, answer = self.last.get(peer, (-1, None))
        if last > head["id"]:
            return "error", {"id": head["id"], "reason": "a request with a "
                             f"larger id than {head['id']} was answered: ids "
                             "rise"}
        return answer if last == head["id"] else None

    def answer(self, peer, head, message):
        """Keeps an answer, but for an error."""
        if message[0] != "error":
            self.last.pop(peer, None)
            if len(self.last) >= self.MOST:
                del self.last[next(iter(self.last))]
            self.last[peer] = head["id"], message
        return message


class State:
    """What a service stands on: whose it is, the first place that is not in
    it, and tables that come in pieces."""

    BYTES = 8 << 30

    def __init__(self):
        self.owner, self.session, self.place = None, -1, (0, 0)
        self.tables, self.coming, self.due = {}, {}, None

    def judge(self, name, session, reaches):
        """Refuses a peer that may not change it; reaches(other) says whether
        its owner is still connected."""
        if self.owner in (None, name):
            return
        if reaches(self.owner):
            raise Refused(f"the state belongs to '{self.owner}' of session "
                          f"{self.session}, which is still connected")
        if session < self.session:
            raise Refused(f"the state is of session {self.session}, which is "
                          "newer")

    def stands(self, head):
        """Whether a step begins where we stand, or later."""
        return self.session == head["session"] and \
            place_of(head) >= self.place

    def weighed(self, name, head):
        self.owner, self.place = name, (head["epoch"], head["step"] + 1)

    def put(self, name, head, tensors):
        """A piece, whose sender owns the state from here on: whether it follows
        what came.  With the last one all of it is in `coming`."""
        tables, at = head["tables"], (head["session"], place_of(head),
                                      head["total"])
        k = next((k for k, (table, _, _) in enumerate(tables)
                  if table + ".row" in tensors), None)
        start = head.get("from", 0)
        if k is None or (k, start) == (0, 0):
            self.coming, self.due = {}, (at, 0, 0)
        elif self.due != (at, k, start):
            return False
        if sum(rows * width for _, rows, width in tables) > self.BYTES:
            raise ValueError(f"more than {self.BYTES} bytes")
        for table, rows, width in tables:
            if table not in self.coming:
                self.coming[table] = np.zeros((rows, width), "u1")
        if k is not None:
            name_of, rows, width = tables[k]
            part = tensors[name_of + ".row"]
            if part.shape[1:] != (width,) or start + len(part) > rows:
                raise ValueError(f"rows of '{name_of}' are {part.shape}")
            self.coming[name_of][start:start + len(part)] = part
            done = start + len(part) == rows
            self.due = at, k + done, 0 if done else start + len(part)
        self.owner = name
        return True

    def lacks(self, head):
        """The table of which rows are missing after the last piece."""
        return [t[0] for t in head["tables"]][self.due[1]:]

    def stand(self, head):
        """All of it is there and good: it counts from here on."""
        self.tables, self.coming, self.due = self.coming, {}, None
        self.session, self.place = head["session"], place_of(head)


class Mirror:
    """A sampler's tables, as a trainer keeps them: rows of bytes."""

    PIECE = 16 << 20

    def __init__(self, sampler="", total=0, tables=None):
        self.sampler, self.total = sampler, total
        self.tables, self.pending = dict(tables or {}), None

    def take(self, head, tensors, sampler=""):
        """What came with weights; it counts when the step is applied."""
        rows = []
        self.whose = sampler
        for entry in head.get("store", []):
            name, n, width = self._entry(entry)
            at, row = tensors.get(name + ".at"), tensors.get(name + ".row")
            if at is None and row is None:
                at, row = np.zeros(0, "i8"), np.zeros((0, width), "u1")
            elif at is None or row is None or at.ndim != 1 or \
                    row.shape != (len(at), width) or at.min() < 0 or \
                    at.max() >= n:
                raise Refused(f"weights: the rows of '{name}' make no sense")
            known = self.tables.get(name)
            if known is not None and (known.shape[1] != width or
                                      len(known) > n):
                raise Refused(f"weights: '{name}' has another shape than it "
                              "had")
            rows.append((name, n, width, at.copy(), row.copy()))
        self.pending = rows

    @staticmethod
    def _entry(entry):
        try:
            name, n, width = entry
            if not (isinstance(name, str) and n >= 1 and width >= 1):
                raise ValueError
        except (TypeError, ValueError):
            raise Refused("weights: 'store' is no list of [name, rows, width]"
                          ) from None
        return name, n, width

    def apply(self):
        """The step is applied."""
        if self.pending and not self.tables:
            self.sampler = self.whose
        for name, n, width, at, row in self.pending or []:
            table = self.tables.get(name, np.zeros((0, width), "u1"))
            if len(table) < n:
                more = np.zeros((n - len(table), width), "u1")
                table = self.tables[name] = np.concatenate([table, more])
            table[at] = row
        self.pending = None

    def pieces(self, at):
        """state.put: (head, tensors) of each piece."""
        head = {**at, "sampler": self.sampler if self.tables else "",
                "total": self.total, "fresh": not self.tables,
                "tables": [[name, *t.shape]
                           for name, t in self.tables.items()]}
        out = []
        for name, t in self.tables.items():
            step = max(1, self.PIECE // t.shape[1])
            out += [({**head, "from": a}, {name + ".row": t[a:a + step]})
                    for a in range(0, len(t), step)]
        out = out or [(head, {})]
        return [({**h, "last": k + 1 == len(out)}, t)
                for k, (h, t) in enumerate(out)]


# ------------------------------------------------------------- sockets, in a thread

# edge: its binder, and the largest part in bytes that the binder and its peers
# receive
EDGES = {
    "plan": ("select", 1 << 16, 1 << 20),
    "items": ("negatives", 1 << 16, 1 << 20),
    "batch": ("train", 1 << 28, 1 << 16),
    "negatives": ("negatives", 1 << 26, 1 << 28),
    "features": ("train", 1 << 16, 1 << 22),
    "events": ("train", 512, 1 << 26),
}
# whose keys may connect there
CONNECTS = {"plan": "augment negatives", "items": "augment negatives",
            "batch": "augment", "negatives": "train", "features": "select"}
MAY = {role: set(("hello " + kinds).split()) for role, kinds in {
    "select": "error beat end item features.get plan",
    "augment": "error beat end next reject batch",
    "train": "error beat end next pairs state.put state.ok event metrics "
             "features status",
    "negatives": "error beat end next reject item weights state.ok metrics",
    "tap": "", "any": " ".join(KINDS)}.items()}


def may_bind(where):
    """Refuses to bind where others than this machine's can connect: what they
    send before a greeting is not bounded here."""
    host = where[6:].rpartition(":")[0].strip("[]")
    if where.startswith("tcp:") and host != "localhost":
        try:
            near = ipaddress.ip_address(host).is_loopback
        except ValueError:
            near = False
        if not near:
            raise ValueError(
                f"'{where}' can be reached from other machines: a stage in "
                "Python binds ipc and loopback addresses only; 'foil tap proxy "
                f"{where} ipc://RUN/EDGE' stands before it")


def say(text):
    """A sentence for people, on standard error."""
    name = os.path.basename(sys.argv[0] or "foil.py")
    print(f"{name}: {text}", file=sys.stderr, flush=True)


class Tally:
    """Says the 1st, 2nd, 4th, 8th and so on of what happens often."""

    def __init__(self):
        self.count = 0

    def say(self, text):
        self.count += 1
        if self.count & (self.count - 1) == 0:
            say(text if self.count == 1 else f"{text} ({self.count} so far)")


class Keys:
    """CURVE keys: our certificate and the folder of those we speak with."""

    def __init__(self, own, allow):
        import zmq.auth
        self.auth, self.allow = zmq.auth, allow
        if os.stat(own).st_mode & 0o077:
            raise ValueError(f"'{own}' may be read by others: chmod 600")
        self.public, self.secret = zmq.auth.load_certificate(own)
        self.roles = {}
        for path in sorted(glob.glob(os.path.join(allow, "*.key"))):
            with open(path) as f:
                role = re.search(r'role\s*=\s*["\']?(\w+)', f.read())
            key = zmq.auth.load_certificate(path)[0]
            self.roles[key] = role.group(1) if role else ""

    def server(self, role):
        keys = [k for k, r in self.roles.items() if r == role]
        if len(keys) != 1:
            raise ValueError(f"{len(keys)} certificates in '{self.allow}' have "
                             f"the role {role}, want one")
        return keys[0]


class Loop(threading.Thread):
    """All sockets of a stage.  Each has a function that takes what arrives,
    (conn, kind, head, tensors), and one that takes what is refused; they run
    in this thread, with the lock `cond`."""

    def __init__(self, keys=None):
        super().__init__(daemon=True, name="foil")
        self.context, self.keys, self.auth = zmq.Context(), keys, None
        self.poller, self.socks, self.ticks = zmq.Poller(), {}, []
        self.jobs, self.soon = collections.deque(), False
        self.cond = threading.Condition()
        self.over, self.error = False, None
        self.signals, self.first, self.asked = {}, None, False
        atexit.register(self.end)  # or the process waits for its sockets
        self.wake = os.pipe()
        os.set_blocking(self.wake[1], False)
        self.poller.register(self.wake[0], zmq.POLLIN)
        if keys:
            from zmq.auth.thread import ThreadAuthenticator
            self.auth = ThreadAuthenticator(self.context)
            self.auth.start()
            self.auth.configure_curve(domain="*", location=keys.allow)

    def open(self, edge, where, bind, take, refuse, kind=None):
        role, inner, outer = EDGES[edge]
        if bind:
            may_bind(where)
        sock = self.context.socket(kind or (zmq.ROUTER if bind
                                            else zmq.DEALER))
        sock.linger = 2000
        sock.maxmsgsize = inner if bind else outer
        # what was published before a subscriber came is lost to it
        sock.reconnect_ivl = 100
        sock.reconnect_ivl_max = 100 if kind == zmq.SUB else 5000
        if self.keys and where.startswith("tcp:"):
            sock.curve_publickey = self.keys.public
            sock.curve_secretkey = self.keys.secret
            if bind:
                sock.curve_server = True
            else:
                sock.curve_serverkey = self.keys.server(role)
        if bind and sock.type == zmq.ROUTER:
            sock.router_mandatory = True  # or one that is gone looks alive
        (sock.bind if bind else sock.connect)(where)
        self.socks[sock] = take, refuse, edge if bind else ""
        if sock.type not in (zmq.PUB,):
            self.poller.register(sock, zmq.POLLIN)
        return sock

    def shut(self, sock):
        self.poller.unregister(sock)
        del self.socks[sock]
        sock.close(linger=0)

    def post(self, job):
        """Has the thread do something."""
        self.jobs.append(job)
        try:
            os.write(self.wake[1], b"!")
        except BlockingIOError:
            pass

    def take_signals(self, first):
        """first() is called at the first SIGINT, SIGTERM or SIGHUP, in this
        thread, for the other one may be in the midst of a long step; the second
        ends the process at once.  Those with a handler of the user's own, or
        that are ignored, stay as they are."""
        if threading.current_thread() is not threading.main_thread():
            return
        self.first = first
        for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            was = signal.getsignal(n)
            if was in (signal.SIG_DFL, signal.default_int_handler):
                self.signals[n] = was
                signal.signal(n, lambda number, frame: None)
        self.woke = signal.set_wakeup_fd(self.wake[1],
                                         warn_on_full_buffer=False)

    def leave_signals(self):
        if self.first and \
                threading.current_thread() is threading.main_thread():
            for n, was in self.signals.items():
                signal.signal(n, was)
            signal.set_wakeup_fd(self.woke)
            self.first = None

    def _woken(self):
        for n in os.read(self.wake[0], 4096):
            if n in self.signals and self.asked:
                os._exit(128 + n)
            if n in self.signals:
                self.asked = True
                self.first()

    def wait(self, ready, patience=1.0):
        """Waits until something is ready; what ended the thread is raised."""
        with self.cond:
            while not (out := ready()) and not self.over:
                self.cond.wait(patience)
            if self.error:
                self.leave_signals()
                raise self.error
            return out

    def run(self):
        try:
            while not self.over:
                self._turn()
        except BaseException as e:  # shown to who waits
            self.error = e
        with self.cond:
            self.over = True
            self.cond.notify_all()
        if self.auth:
            self.auth.stop()
        self.context.destroy(linger=2000)

    def _turn(self):
        ready = self.poller.poll(10 if self.soon else 100)
        with self.cond:
            self.soon = False
            for sock, _ in ready:
                if sock == self.wake[0]:
                    self._woken()
                elif sock in self.socks:
                    self._drain(sock)
            while self.jobs:
                self.jobs.popleft()()
            now = time.monotonic()
            for tick in self.ticks:  # when all that is there was read
                tick(now)
            self.cond.notify_all()

    def _drain(self, sock):
        for _ in range(4096):
            try:
                frames = sock.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return
            conn = frames.pop(0).bytes if sock.type == zmq.ROUTER else b""
            take, refuse, edge = self.socks[sock]
            kind, head = "", {}
            try:
                kind = bytes(frames[0])[len(MAGIC):].decode("ascii", "replace")
                kind, head, tensors = unpack(frames)
                self._may(frames[0], kind, edge)
                take(conn, kind, head, tensors)
            except Refused as why:
                refuse(conn, kind[:31], head, str(why))
            if sock not in self.socks:
                return

    def _may(self, frame, kind, edge):
        if not self.keys:
            return
        try:
            key = frame.get("User-Id")
        except zmq.ZMQError:
            return  # ipc
        role = self.keys.roles.get(key.encode(), "")
        if kind not in MAY.get(role, ()) or \
                edge and role not in f"{CONNECTS[edge]} any".split():
            raise Refused(f"a key of role '{role}' may not send {kind}" +
                          (f" on edge {edge}" if edge else ""))

    def end(self):
        """Ends the thread when all jobs are done; messages are sent."""
        def last():
            self.over = True
        self.post(last)
        if self.is_alive():
            self.join()
        self.leave_signals()
        atexit.unregister(self.end)


def send(sock, conn, kind, head=None, tensors=None):
    """Sends without waiting; False where nobody is there."""
    frames = pack(kind, head, tensors)
    try:
        sock.send_multipart(([conn] if conn else []) + frames,
                            zmq.NOBLOCK, copy=False)
    except zmq.Again:  # nobody takes it
        pass
    except zmq.ZMQError as e:
        if e.errno != zmq.EHOSTUNREACH:
            raise
        return False
    return True


class Bound:
    """An edge that we bind: socket and greeting.

    take(name, kind, head, tensors) gets what greeted peers say; joined(name)
    and left(name) are told who comes and goes.
    """

    def __init__(self, loop, edge, where, hello, take, joined=None, left=None,
                 size=lambda: 0):
        self.binder = Binder(hello, edge in ("negatives", "features"))
        self.take, self.size = take, size
        self.on_join = joined or (lambda name: None)
        self.on_leave = left or (lambda name: None)
        self.away, self.told, self.where = Tally(), Tally(), where
        self.sock = loop.open(edge, where, True, self._take, self._refused)
        loop.ticks.append(self._tick)

    def _take(self, conn, kind, head, tensors):
        now = time.monotonic()
        if kind == "hello" or conn in self.binder.names:
            judge(kind, head, tensors, self.size(), time.time())
        answers, name, joined = self.binder.hear(now, conn, kind, head)
        for answer in answers:
            send(self.sock, conn, *answer)
        if joined:
            self.on_join(head["peer"])
        if name is None or kind == "beat":
            return
        if kind == "error":
            self.told.say(f"{name} refuses a message of ours: "
                          f"{head['reason']}")
        self.take(name, kind, head, tensors)
        self.binder.good(name)

    def _refused(self, conn, kind, head, why):
        name = self.binder.names.get(conn)
        if name is None:
            if kind == "hello" or why.startswith("peer speaks"):
                self.away.say(f"a peer is turned away: {why}")
                send(self.sock, conn, "error", {"reason": why})
            else:
                for a in self.binder.hear(time.monotonic(), conn, kind, {})[0]:
                    send(self.sock, conn, *a)
            return
        at = all(_fits(head.get(k), "w63") for k in ("session", "epoch",
                                                     "step"))
        answer, sentence, away = self.binder.refuse(
            time.monotonic(), name, why, kind, at and place_of(head),
            head.get("session", 0))
        if sentence:
            say(sentence)
        if answer:
            send(self.sock, conn, *answer)
        if away:
            self.on_leave(name)

    def _tick(self, now):
        for name in self.binder.gone(now):
            self.on_leave(name)

    def send(self, name, kind, head=None, tensors=None):
        peer = self.binder.peers.get(name)
        if peer and not send(self.sock, peer.conn, kind, head, tensors):
            peer.lost = True  # it leaves when all is read that it sent

    def all(self, kind, head=None, tensors=None, silent=False):
        conns = [p.conn for p in self.binder.peers.values()]
        for conn in conns + (list(self.binder.silent) if silent else []):
            send(self.sock, conn, kind, head, tensors)

    def reaches(self, name):
        """Whether a peer is connected: it gets our hello once more, which it
        passes over.  One that is not leaves at once."""
        peer = self.binder.peers.get(name)
        if peer and not send(self.sock, peer.conn, "hello", self.binder.hello):
            self.binder.leave(name)
            self.on_leave(name)
            peer = None
        return peer is not None

    peers = property(lambda self: self.binder.peers)


class Linked:
    """An edge that we connect to: socket, greeting and sign of life.

    life   function: the message that shows life, each second
    """

    def __init__(self, loop, edge, where, hello, take, joined=None, life=None,
                 size=lambda: 0):
        self.loop, self.edge, self.where = loop, edge, where
        self.caller, self.take, self.size = Caller(hello), take, size
        self.on_join = joined or (lambda: None)
        self.life = life or (lambda: ("beat",))
        self.lived, self.refused, self.told = 0.0, Tally(), Tally()
        self._open()
        loop.ticks.append(self._tick)

    def _open(self):
        self.sock = self.loop.open(self.edge, self.where, False, self._take,
                                   self._refuse)

    def again(self):
        """A fresh connection."""
        self.loop.shut(self.sock)
        self.caller.begin()
        self._open()

    def _take(self, conn, kind, head, tensors):
        judge(kind, head, tensors, self.size(), time.time())
        heard = self.caller.hear(time.monotonic(), kind, head)
        if heard == "joined":
            self.lived = 0.0
            self.on_join()
        elif heard:
            if kind == "error" and "kind" in head:
                stage = (self.caller.who or {}).get("stage", self.edge)
                self.told.say(f"the {stage} stage refuses a message of ours: "
                              f"{head['reason']}")
            self.take(kind, head, tensors)

    def refuse(self, kind, head, why):
        """A message that a role cannot use."""
        self._refuse(b"", kind, head, why)

    def _refuse(self, conn, kind, head, why):
        self.refused.say(f"{self.edge}: a message is refused: {why}")
        if why.startswith("peer speaks"):
            raise Unfit(why)
        if kind == "error" or not self.caller.joined:
            return
        about = {"reason": why[:500], "kind": kind or "?",
                 "count": self.refused.count}
        if all(_fits(head.get(k), "w63") for k in ("session", "epoch",
                                                   "step")):
            about.update(_at(head["session"], place_of(head)))
        self.send("error", about)

    def _tick(self, now):
        for message in self.caller.tick(now):
            self.send(*message)
        if self.caller.joined and now - self.lived >= 1:
            self.lived = now
            self.send(*self.life())

    def send(self, kind, head=None, tensors=None):
        send(self.sock, b"", kind, head, tensors)


def endpoint(run, edge):
    """Of an edge: in a run directory, or as a dict says that names others."""
    if not isinstance(run, dict):
        return f"ipc://{run}/{edge}"
    return run.get(edge) or f"ipc://{_folder(run)}/{edge}"


def _folder(run):
    """The run directory, which is made where it is not there; or None."""
    folder = run.get("run") if isinstance(run, dict) else run
    if folder:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def _own_name(stage):
    host = os.uname().nodename[:20]
    return f"{stage}-{host}-{os.getpid()}-{time.time_ns() % 10**9:09d}"[:63]


def _hello(stage, dataset=None, **more):
    return {"stage": stage, "version": VERSION, "run": "",
            "dataset": dataset or {"digest": "", "size": 0},
            "peer": _own_name(stage), **more}


def _array(x, dtype="f4"):
    """Numbers of any framework, on this processor."""
    if hasattr(x, "detach"):
        x = x.detach().cpu()
        x = x.float() if dtype == "f4" else x
    return np.ascontiguousarray(np.asarray(x), dtype)


def _number(x):
    x = float(x.detach() if hasattr(x, "detach") else x)
    return x if math.isfinite(x) else None


# --------------------------------------------------------------------- options

SHORT = {"run": "-r", "batch": "-b", "epochs": "-e", "seed": "-s"}
GIVEN = {}  # what options() returned, for checkpoints


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        say(f"{message}; --help lists the options")
        sys.exit(2)


def options(*operands, **usual):
    """What the command line of a stage says, as foil's own tools read it.

    operands  names of what stands behind the options
    usual     of each option, by its name: its value where it is not given; a
              type, such as str: it has to be given; False: it takes no value;
              a list: its first word is usual, the others may be given; ...:
              it is for the stage in C, to which pipelines give it, and when it
              is given we say that it does nothing here

    Another option ends the program with a sentence and exit code 2.
    """
    p = _Parser(
        description=getattr(sys.modules["__main__"], "__doc__", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False)
    for name, value in usual.items():
        words = ["-" * min(len(name), 2) + name.replace("_", "-")]
        words += [SHORT[name]] if name in SHORT else []
        if value is False:
            p.add_argument(*words, action="store_true")
        elif value is ...:
            p.add_argument(*words, default=argparse.SUPPRESS,
                           help="does nothing here")
        elif isinstance(value, list):
            p.add_argument(*words, choices=value, default=value[0])
        elif isinstance(value, type):
            p.add_argument(*words, type=value, required=True)
        else:
            p.add_argument(*words, default=value,
                           type=str if value is None else type(value))
    for name in operands:
        p.add_argument(name)
    o, rest = p.parse_known_args()
    if rest:
        wrong = next((w for w in rest if w.startswith("-")), rest[0])
        p.error(f"no option '{wrong}'" if wrong.startswith("-") else
                f"'{wrong}' has no use here")
    for name in [n for n in vars(o) if usual.get(n) is ...]:
        say(f"--{name.replace('_', '-')} {getattr(o, name)} does nothing here")
        delattr(o, name)
    GIVEN.update({k.replace("_", "-"): x for k, x in vars(o).items()
                  if k in usual and k not in ("run", "resume")})
    return o


# ------------------------------------------------------------------- data sets

def _foil_data(*words):
    done = subprocess.run(["foil-data", *words], capture_output=True)
    if done.returncode:
        raise OSError(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="surrogateescape")


class Dataset:
    """A data set of foil by its index: dataset[id] is the file of an image, as
    bytes."""

    def __init__(self, path):
        cut = lambda line: [cell.replace("\\\\", "\0").replace("\\t", "\t")
                            .replace("\\n", "\n").replace("\0", "\\")
                            for cell in line.split("\t")]
        head, *rows = map(cut, _foil_data("list", "--where",
                                          path).splitlines())
        info = dict(line.split("\t", 1)
                    for line in _foil_data("info", path).splitlines())
        table = dict(zip(head, zip(*rows)))
        self.digest, self.size = info["digest"], len(rows)
        self.labels = np.array(table["label"], "i8")
        self.classes, self.names = table["class"], table["name"]
        self.captions = [c.split("\n") if c else [] for c in table["caption"]]
        self._where = list(zip(table["file"], map(int, table["offset"]),
                               map(int, table["bytes"])))
        self._open = {}

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        path, offset, length = self._where[i]
        if path not in self._open:
            if len(self._open) >= 64:
                os.close(self._open.pop(next(iter(self._open))))
            self._open[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        data = os.pread(self._open[path], length, offset)
        if len(data) < length:
            raise OSError(f"'{self.names[i]}' is cut off")
        return data

    def about(self):
        """What a hello says of it."""
        return {"digest": self.digest, "size": self.size}


# --------------------------------------------------------------------- trainer

class Batch:
    """A batch of the plan.

    views     u1 [v,b,h,w,c], in the memory that the message came in
    ids       i8 [b], the samples
    extra     u1 [r,h,w,c] further images, which are negatives only; or None
    extra_ids i8 [r], or None
    tokens    i4 [b,l] of a caption of each sample, or None; lengths i4 [b]
    extra_tokens  i4 [s,l] of further texts, or None; extra_lengths i4 [s]
    epoch, step, steps (in this epoch), epochs (in all)
    encode_only  features are wanted, nothing is to be trained
    """

    def __init__(self, trainer, head, tensors):
        self._trainer, self.head, self.tensors = trainer, head, tensors
        self.views, self.ids = tensors["views"], tensors["ids"]
        self.extra = tensors.get("extra")
        self.extra_ids = tensors.get("extra_ids")
        for name in ("tokens", "lengths", "extra_tokens", "extra_lengths"):
            setattr(self, name, tensors.get(name))
        for name in ("epoch", "step", "steps", "epochs"):
            setattr(self, name, head[name])
        self.encode_only = head.get("encode_only", False)
        self.scale, self.outside, self.values = None, None, {}
        self.over = False

    def __len__(self):
        return len(self.ids)

    def images(self):
        """Views and extra images as one [v*b + r,h,w,c]; without extra images
        no copy."""
        v = self.views.reshape(-1, *self.views.shape[2:])
        return v if self.extra is None else np.concatenate([v, self.extra])

    def weights(self, z, beta):
        """What each negative counts for each row, from the negatives service:
        w [v*b, v*b + r].

        z are the embeddings of images(), of unit length; beta is the inverse
        temperature.  With s = z z^T and p(r) = (r + b) mod v*b the loss is

            mean over r of  e_r beta sum_c w_rc s_rc - a_r beta s_r,p(r)

        w constant; a, e are the columns of batch.scale, or 1 where that is
        None.  Where batch.outside, f4 [o,d], is not None, w has a column more
        for each of its rows: negatives that are constants.

        Where there are tokens, z are the embeddings of b images, their b
        captions, the extra images and the extra texts, and v is 2.
        """
        return self._trainer._weights(self, _array(z), float(beta))

    def done(self, z=None, loss=None, applied=True, **metrics):
        """The batch is trained, and the next may come.

        z are the embeddings of images(): wanted where features are kept, and
        for who follows the events.  applied=False: the weights stayed as they
        were, as where the loss was not finite.
        """
        if not self.over:
            self.over = True
            if loss is not None:
                metrics = {"loss": loss, **metrics}
            self._trainer._done(self, None if z is None else _array(z),
                                applied, metrics)


class Trainer:
    """Stands in the place of foil-train: an iterator of batches, in order.

    run         directory; or a dict with that, "run", and with endpoints of
                edges that are not in it: {"run": "r", "batch": "tcp://.."}
    window      batches that wait here at most
    keep_features  of so many epochs, for selectors that plan from features
    negatives   whether to ask a negatives service
    deadline    seconds without a batch, or without an answer: TimeoutError
    resume      True: the run goes on from its newest checkpoint, which
                `checkpoint` is then, or begins where there is none; what
                state() returned: it goes on from there
    save        function that returns the arguments of save(), by name: it is
                called at the end of each epoch and of the loop, and each
                save_every steps
    signals     whether SIGINT, SIGTERM and SIGHUP end the loop after its step
    keys, allow CURVE keys for endpoints over tcp

    A run directory that was used is refused without `resume`.
    """

    def __init__(self, run, window=8, keep_features=0, negatives=False,
                 deadline=300.0, resume=None, keys=None, allow=None,
                 save=None, save_every=0, signals=True):
        self.run, self.deadline = run, deadline
        self.folder, self.checkpoint = _folder(run), None
        self.metrics, self.lock, self.stopping = None, None, False
        if self.folder:
            self._lock()
            resume = self._resumed(resume)
        at = {"epoch": 0, "step": 0, "total": 0, "images": 0, "epochs": None,
              "digest": "", "size": 0, "recipe": "",
              **(resume if isinstance(resume, dict) else {})}
        self.total, self.images = at["total"], at["images"]
        self.saved, self.saver, self.save_every = self.total, save, save_every
        self.session = self._session()
        self.consumer = Consumer(self.session, (at["epoch"], at["step"]),
                                 window)
        self.consumer.epochs = at["epochs"]
        self.mirror = Mirror(at.get("sampler", ""), self.total,
                             at.get("tables"))
        self.keep, self.now = keep_features, None
        self.past = dict(at.get("past", {}))
        if at.get("features") is not None:
            self.now = at["features"].copy()
        self.plans, self.client, self.shown = {}, None, 0.0
        self.shape = None  # of an image, as the first batch says
        self.sequence, self.waiting = collections.Counter(), None
        self.waited, self.batch, self.started = 0.0, None, time.monotonic()
        self._open(run, at, negatives, keys, allow)
        if signals:
            self.loop.take_signals(self._stop)

    def _open(self, run, at, negatives, keys, allow):
        self.loop = loop = Loop(Keys(keys, allow) if keys else None)
        hello = _hello("train", {"digest": at["digest"], "size": at["size"]},
                       recipe=at["recipe"], max_batch=EDGES["batch"][1])
        self.batches = Bound(loop, "batch", endpoint(run, "batch"), hello,
                             self._batch, self._joined, self._left,
                             lambda: self.dataset["size"])
        self.hello = self.batches.binder.hello
        self.service, self.answers = None, Service()
        if self.keep:
            self.features = Bound(loop, "features", endpoint(run, "features"),
                                  {k: v for k, v in hello.items()
                                   if k not in ("recipe", "max_batch")},
                                  self._asked)
        self.events = loop.open("events", endpoint(run, "events"), True, None,
                                None, zmq.PUB)
        if negatives:
            self.client = Client(self._state_pieces)
        loop.ticks.append(self._tick)
        loop.start()

    dataset = property(lambda self: self.hello["dataset"])
    epoch = property(lambda self: self.consumer.place[0])
    step = property(lambda self: self.consumer.place[1])

    def _lock(self):
        fd = os.open(os.path.join(self.folder, "lock"),
                     os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.lock = open(fd, "r+b", buffering=0)
        try:
            fcntl.lockf(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Occupied(f"another trainer has '{self.folder}'") from None
        self._sign()

    def _sign(self, state=""):
        """Writes into the lock who has it: foil-stop(1) looks there."""
        line = f"{os.getpid()} {os.uname().nodename[:64]}{state}\n".encode()
        os.pwrite(self.lock.fileno(), line, 0)
        self.lock.truncate(len(line))

    def _session(self):
        """Ours; RUN/session has it for the next one."""
        clock, path = time.time_ns(), os.path.join(self.folder or "", "session")
        if not self.folder:
            return clock
        try:
            with open(path, encoding="ascii") as f:
                clock = session_after(int(f.read(32)), clock)
        except (OSError, ValueError):
            pass  # the first here
        with open(path + ".new", "w", encoding="ascii") as f:
            f.write(f"{clock}\n")
        os.replace(path + ".new", path)
        return clock

    def _resumed(self, resume):
        """The state to go on from; a run that was begun needs one."""
        metrics = os.path.join(self.folder, "metrics.jsonl")
        begun = _checkpoints(self.folder)
        if resume in (None, False):
            if begun or os.path.exists(metrics) and os.path.getsize(metrics):
                raise Occupied(f"'{self.folder}' holds a run: --resume goes on "
                               "with it, another -r starts anew")
        elif resume is True and not begun:
            say(f"'{self.folder}' has no checkpoint yet: starting anew")
        elif resume is True:
            self.checkpoint = checkpoint(self.folder)
            return self.checkpoint.state
        return resume

    def _stop(self):
        """The first signal has come."""
        self.stopping = True
        if self.lock is not None:
            self._sign(" stopping")
        say("stopping: this step is finished and saved first; once more ends "
            "it at once, without")

    def _journal(self, before):
        """metrics.jsonl without the steps that come after `before` ones: they
        are trained again.  Nothing is cut before the first of them is."""
        path = os.path.join(self.folder, "metrics.jsonl")
        self.metrics = open(path, "a+b", buffering=0)
        self.metrics.seek(0)
        kept = 0
        for line in self.metrics.readlines():
            if not line.endswith(b"\n") or \
                    json.loads(line)["total"] > before:
                break
            kept += len(line)
        self.metrics.truncate(kept)

    # in the thread of the sockets

    def _joined(self, name):
        self.consumer.ends.pop(name, None)  # of its connection before
        self.batches.send(name, *self.consumer.snapshot().message())

    def _left(self, name):
        self.consumer.ends.pop(name, None)
        say(f"an augmenter is gone, {len(self.batches.peers)} remain")

    def _batch(self, name, kind, head, tensors):
        if kind == "end":
            if head["session"] == self.session:
                self.consumer.end(name, place_of(head))
        elif kind == "batch":
            if not self.consumer.wants(head["session"], place_of(head)):
                return
            if tensors["views"].shape[2:] != (head["height"], head["width"],
                                              head["channels"]):
                raise Refused("batch: views are not of height x width x "
                              "channels")
            self.shape = self.shape or tensors["views"].shape[2:]
            if self.shape != tensors["views"].shape[2:]:
                raise Refused(f"batch: images of {head['width']}x"
                              f"{head['height']}: this run has "
                              f"{self.shape[1]}x{self.shape[0]}")
            self.consumer.hold(place_of(head), (head, tensors))
            self.loop.soon = True
        elif kind != "error":
            raise Refused(f"sent {kind}, which has no use here")

    def _tick(self, now):
        waiting = self.waiting is not None
        if self.consumer.tick(now, waiting):
            self.batches.all(*self.consumer.snapshot().message())
        self.loop.soon |= self.consumer.changed
        if waiting and now - self.waiting >= 10 and now - self.shown >= 10:
            self.shown = now
            say(f"waiting for {now - self.waiting:.0f} seconds for epoch "
                f"{self.epoch}, step {self.step} from "
                f"{len(self.batches.peers)} augmenters")
        if self.client is None:
            return
        if self.service is None and self.dataset["size"]:
            hello = {k: v for k, v in self.hello.items()
                     if k not in ("recipe", "max_batch")}
            self.service = Linked(self.loop, "negatives",
                                  endpoint(self.run, "negatives"), hello,
                                  self._answer, self._met,
                                  size=lambda: self.dataset["size"])
        elif self.service and self.client.silent(now):
            self.client.sent = None
            self.service.again()

    def _say_to_service(self, messages):
        for message in messages:
            self.service.send(*message)

    def _met(self):
        self._say_to_service(self.client.joined(
            time.monotonic(), self.service.caller.who["peer"]))

    def _answer(self, kind, head, tensors):
        self._say_to_service(self.client.hear(time.monotonic(), kind, head,
                                              tensors))

    def _state_pieces(self):
        self.mirror.total = self.total
        return self.mirror.pieces(_at(self.session, self.consumer.place))

    def _asked(self, name, kind, head, tensors):
        if kind not in ("plan", "features.get"):
            if kind == "error":
                return
            raise Refused(f"'{kind}' is nothing for a service of features")
        answer = self.answers.asked(name, head) or self.answers.answer(
            name, head, self._features(kind, head))
        self.features.send(name, *answer)

    def _features(self, kind, head):
        if kind == "plan":
            self.plans[head["epoch"]] = {"strategy": head["strategy"],
                                         **head["values"]}
            return "state.ok", {"id": head["id"],
                                **_at(self.session, self.consumer.place)}
        wanted, mine = head["epoch"], self.epoch
        refuse = lambda why, **more: ("error", {"reason": why, **more})
        if wanted >= mine:
            return refuse("the epoch is not over yet", id=head["id"])
        if wanted not in self.past:
            if wanted + self.keep >= mine:
                return refuse("no features of that epoch were kept",
                              id=head["id"], state=True)
            if head.get("plan", mine) < mine:
                return refuse("the epoch to be planned is over",
                              id=head["id"], state=True)
            return refuse("the trainer keeps too few epochs of features: "
                          "give it a larger keep_features")
        z, steps, mode = self.past[wanted]
        a = head["from"]
        e = min(a + max(1, (1 << 20) // z[:, 0].nbytes), z.shape[1])
        ids = np.arange(a, e)
        while len(ids := ids[~np.isnan(z[0, ids, 0])]) == 0 and e < z.shape[1]:
            a, e = e, min(2 * e - a, z.shape[1])
            ids = np.arange(a, e)
        if not len(ids):
            return refuse("no features of that epoch were kept",
                          id=head["id"], state=True)
        return "features", {
            "epoch": wanted, "step": steps, "mode": mode,
            "dim": z.shape[2], "id": head["id"], "next": e}, \
            {"ids": ids, "z": z[:, ids].astype("f2" if head.get("half")
                                               else "f4")}

    def _publish(self, kind, head, tensors=None):
        head = {"sequence": self.sequence[kind], **head}
        self.sequence[kind] += 1
        self.loop.post(lambda: send(self.events, b"", kind, head, tensors))

    # in the thread of the user

    def __iter__(self):
        while (batch := self._next()) is not None:
            self.batch = batch
            yield batch
            batch.done()
            self._save_if(batch.step + 1 == batch.steps or
                          self.save_every and
                          self.total - self.saved >= self.save_every)
        self._save_if(True)
        self.close()

    def _save_if(self, due):
        if due and self.saver and self.saved != self.total:
            self.save(**self.saver())

    def _next(self):
        since = self.waiting = time.monotonic()

        def ready():
            if self.stopping:
                return "over"
            item, now = self.consumer.take(), time.monotonic()
            if item or self.consumer.over(now, self.batches.peers):
                return item or "over"
            return now - since > self.deadline and "late"
        got = self.loop.wait(ready, 0.1)
        self.waiting, self.started = None, time.monotonic()
        self.waited = self.started - since
        if got == "late":
            raise TimeoutError(
                f"no batch for epoch {self.epoch}, step {self.step} in "
                f"{self.deadline:.0f} seconds, {len(self.batches.peers)} "
                "augmenters there")
        if not got or got == "over":
            return None
        self.consumer.epochs = got[0]["epochs"]
        return Batch(self, *got)

    def _weights(self, batch, z, beta):
        if self.client is None:
            raise RuntimeError("Trainer(negatives=True) asks the service")
        v, b = batch.views.shape[:2]
        v = v if batch.tokens is None else 2
        r, s = (0 if x is None else len(x)
                for x in (batch.extra, batch.extra_tokens))
        if z.shape[0] != v * b + r + s:
            raise ValueError("z has not a row for each of batch.images()" +
                             ("" if batch.tokens is None else " and captions"))
        head = {**_at(self.session, self.consumer.place), "beta": beta}
        tensors = {"ids": batch.ids, "z": z[:v * b].reshape(v, b, -1)}
        if batch.tokens is not None:
            head.update(kind="pair", texts=batch.head["texts"])
            tensors["captions"] = batch.tensors["captions"]
        if r:
            tensors.update(extra_ids=batch.extra_ids,
                           extra_z=z[v * b:v * b + r])
        if s:
            tensors.update(extra_texts=batch.tensors["extra_texts"],
                           extra_text_z=z[v * b + r:])
        for name in ("extra_view", "extra_epoch", "hint_row", "hint_view",
                     "hint_log_q", "variants"):
            if name in batch.tensors:
                tensors[name] = batch.tensors[name]
        for name in ("reserve", "augmentations", "hint_values"):
            if name in batch.head:
                head[name] = batch.head[name]
        return self._ask(batch, head, tensors, (v * b, len(z)))

    def _ask(self, batch, head, tensors, shape):
        def ask():
            now = time.monotonic()
            self._say_to_service(self.client.ask(now, "pairs", head, tensors))
        since = time.monotonic()

        def late():
            now = time.monotonic()
            if now - max(since, self.shown) >= 10:
                self.shown = now
                say("no answer of the negatives service for "
                    f"{now - since:.0f} seconds")
            return now - since > self.deadline and "late"
        self.loop.post(ask)
        while True:
            got = self.loop.wait(lambda: self.client.answer or late(), 0.1)
            if got == "late" or got is None:
                raise TimeoutError("no answer of the negatives service in "
                                   f"{self.deadline:.0f} seconds")
            kind, answer, t = got
            if kind == "error":
                self.client.answer = None
                say(f"the negatives service: {answer['reason']}; it is asked "
                    "again")
                time.sleep(0.5)
                self.loop.post(ask)
                continue
            try:
                self._judge(kind, answer, t, tensors["z"].shape[2], shape)
                break
            except Refused as why:
                self._refuse(kind, answer, str(why))
        self.client.answer = None
        batch.scale, batch.outside = t.get("scale"), t.get("outside")
        batch.values = {"accepted": answer["accepted"],
                        "moved": answer["moved"], **answer.get("values", {})}
        return t["w"]

    def _judge(self, kind, answer, t, width, shape):
        """Takes weights for a matrix of that shape, or refuses them."""
        if kind != "weights":
            raise Refused(f"pairs are answered with {kind}")
        outside = t.get("outside")
        o = 0 if outside is None else len(outside)
        if t["w"].shape != (shape[0], shape[1] + o):
            raise Refused(f"weights: {t['w'].shape}, want {shape}, and {o} "
                          "from outside")
        if o and outside.shape[1] != width:
            raise Refused(f"outside has {outside.shape[1]} columns")
        self.mirror.take(answer, t, self.service.caller.who.get("sampler", ""))

    def _refuse(self, kind, answer, why):
        """An answer that does not fit counts as none: we wait on."""
        with self.loop.cond:
            self.client.refuse()
        self.loop.post(lambda: self.service.refuse(kind, answer, why))

    def _done(self, batch, z, applied, metrics):
        epoch, step = batch.epoch, batch.step
        mode = "eval" if batch.encode_only else "train"
        v, b = batch.views.shape[:2]
        rows = None if z is None else z[:v * b].reshape(v, b, -1)
        behind = (epoch, step + 1) if step + 1 < batch.steps else (epoch + 1, 0)
        with self.loop.cond:
            if rows is not None and applied and self.keep:
                if self.now is None:
                    self.now = np.full((v, self.dataset["size"],
                                        rows.shape[2]), np.nan, "f4")
                self.now[:, batch.ids] = rows
            self.total += not batch.encode_only
            self.images += 0 if batch.encode_only else b
            if applied:
                self.mirror.apply()
            if behind[0] > epoch and self.keep and self.now is not None:
                self.past[epoch] = self.now.copy(), batch.steps, mode
                self.past.pop(epoch - self.keep, None)
            self.consumer.go(behind)
        if self.client:
            self.mirror.pending = None
            self.loop.post(lambda: self._say_to_service(
                self.client.done(time.monotonic(), applied)))
        if rows is not None:
            self._publish("features", {"epoch": epoch, "step": step,
                                       "mode": mode, "dim": rows.shape[2]},
                          {"ids": batch.ids, "z": rows})
        if not batch.encode_only:
            self._tell(batch, applied, metrics)
        self._publish("event", {"epoch": epoch, "step": step, "what": "step"})
        if behind[0] > epoch:
            self._publish("event", {"epoch": behind[0], "step": 0,
                                    "what": "epoch"})

    def _tell(self, batch, applied, metrics):
        values = {k: _number(x) for k, x in {**metrics,
                                             **batch.values}.items()}
        line = {"total": self.total, "epoch": batch.epoch, "step": batch.step,
                **values, "images": self.images,
                "substituted": batch.head["rejected"],
                "seconds": time.monotonic() - self.started,
                "waited": self.waited, "time": time.time()}
        if not applied:
            line["refused"] = "not applied"
        if self.folder:
            if self.metrics is None:
                self._journal(self.total - 1)
            self.metrics.write(json.dumps(line).encode() + b"\n")
        self._publish("metrics", {
            "step": self.total, "stage": "train",
            "values": {k: x for k, x in values.items() if x is not None}})

    def state(self):
        """All that a trainer of the same run has to know to go on from here:
        to be saved together with the weights."""
        with self.loop.cond:
            return {"epoch": self.epoch, "step": self.step,
                    "total": self.total, "images": self.images,
                    "epochs": self.consumer.epochs, **self.dataset,
                    "recipe": self.hello["recipe"],
                    "sampler": self.mirror.sampler,
                    "tables": {k: t.copy()
                               for k, t in self.mirror.tables.items()},
                    "features": None if self.now is None else self.now.copy(),
                    "past": dict(self.past)}

    def save(self, model, **how):
        """save_checkpoint() in the run directory, with our state(); who
        follows the events is told.  Returns its path."""
        how["config"] = {"options": GIVEN, **(how.get("config") or {})}
        path = save_checkpoint(self.folder, model, state=self.state(), **how)
        self.saved = self.total
        self._publish("event", {"epoch": self.epoch, "step": self.step,
                                "what": "checkpoint", "path": path})
        return path

    def close(self, over=True):
        """Ends the run for all stages; with over=False the others wait for a
        trainer that goes on."""
        if not self.loop.is_alive():
            return self.loop.leave_signals()

        def last():
            at = _at(self.session, self.consumer.place)
            if over:
                self.batches.all("end", {**at, "over": True}, silent=True)
        self._publish("event", {"epoch": self.epoch, "step": self.step,
                                "what": "stop"})
        self.loop.post(last)
        self.loop.end()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close(over=kind is None)


# -------------------------------------------------------------------- selector

def _dataset(data):
    return data if isinstance(data, Dataset) else Dataset(data)


class _Selector:
    PATIENCE = 10.0  # seconds of asking nobody for features, until that is said

    def __init__(self, run, data, plan, epochs, lag, lease, keys):
        self.run, self.data, self.plan, self.lag = run, data, plan, lag
        self.plans, self.told, self.ended = {}, 0.0, {}
        self.began = time.monotonic()
        self.loop = Loop(keys)
        _folder(run)
        self.producer = Producer(
            lambda e: len(self.plans[e]) if e in self.plans else None, epochs,
            lease)
        hello = _hello("select", data.about())
        self.edge = Bound(self.loop, "plan", endpoint(run, "plan"), hello,
                          self._take, self.producer.joined, self._left,
                          lambda: data.size)
        self.client = self.trainer = self.alone = None
        if lag is not None:
            self.client = Client()
            self.trainer = Linked(
                self.loop, "features", endpoint(run, "features"), hello,
                lambda *m: self._send(self.client.hear(time.monotonic(), *m)),
                lambda: self._send(self.client.joined(
                    time.monotonic(), self.trainer.caller.who["peer"])),
                size=lambda: data.size)
        self.loop.ticks.append(self._tick)
        self.loop.start()

    def _send(self, messages):
        for message in messages:
            self.trainer.send(*message)

    def _left(self, name):
        n = self.producer.gone(name)
        if n:
            say(f"an augmenter is gone: its {n} items go to others")

    def _take(self, name, kind, head, tensors):
        now = time.monotonic()
        if kind == "next":
            self.producer.next(now, name, Snapshot.of(head, tensors),
                               head.get("room", head["window"]))
        elif kind == "reject":
            say(f"{name}: samples {tensors['ids'].tolist()} cannot be used: "
                f"{head['reason']}")
        elif kind == "end":
            self.producer.ended(now, name, head["session"])
        elif kind == "error":
            if head.get("kind") == "item" and "step" in head:
                self.producer.refuse(now, name, place_of(head))
        else:
            raise Refused(f"'{kind}' is nothing for a selector")

    def _tick(self, now):
        p = self.producer
        for text in p.tick(now):
            say(text)
        self._hint(now)
        self._alone(now)
        while (turn := p.turn(now)):
            self.edge.send(turn[0], *self._item(*turn[1]))
        end = p.end()
        if end and now - self.told >= 1:
            self.told = now
            self.edge.all("end", _at(p.now.session, end))
        if p.finished(now):
            self.edge.all("end", {**_at(p.now.session, p.now.place),
                                  "over": True}, silent=True)
            self.loop.over = True

    def _alone(self, now):
        """Says each minute that nobody is there."""
        if self.producer.now is None and now - self.began >= self.PATIENCE:
            self.began = now + 60 - self.PATIENCE
            say("waiting for a trainer and augmenters: none was heard yet at "
                f"'{self.edge.where}'")

    def _hint(self, now):
        """Says once why a plan may have to wait for ever."""
        if not (self.client and self.client.request) or \
                self.trainer.caller.joined:
            self.alone = None
        elif self.alone is None:
            self.alone = now
        elif now - self.alone > self.PATIENCE:
            self.alone = math.inf
            say(f"nobody has answered at '{self.trainer.where}': a trainer gives "
                "features when it is started with --keep-features")

    def _item(self, epoch, step):
        head = {**_at(self.producer.now.session, (epoch, step)), "run": "",
                "size": self.data.size, "steps": len(self.plans[epoch]),
                "epochs": self.producer.epochs}
        return "item", head, {"ids": self.plans[epoch][step]}

    def wanted(self):
        """The epoch that is to be planned now, or None."""
        p = self.producer
        if p.now is None:
            return None
        at = p.now.place[0]
        for epoch in (at, at + 1):
            if epoch < p.epochs and epoch not in self.plans:
                late = self.lag is not None and epoch - self.lag > at and \
                    epoch > self.lag
                return None if late else (epoch,)
        return None

    def make(self, epoch):
        """Plans an epoch, or not, where another is wanted meanwhile."""
        features = None
        if self.lag is not None and epoch - 1 - self.lag >= 0:
            features = self.fetch(epoch - 1 - self.lag, epoch)
            if self.loop.over or self.wanted() != (epoch,):
                return
        plan = [np.ascontiguousarray(ids, "i8")
                for ids in self.plan(epoch, features)]
        for ids in plan:
            if not (1 <= len(ids) <= 65536) or \
                    len(np.unique(ids)) < len(ids) or \
                    ids.min() < 0 or ids.max() >= self.data.size:
                raise ValueError(f"the plan of epoch {epoch}: a batch names a "
                                 "sample twice, or one that is not there")
        with self.loop.cond:
            self.plans[epoch] = plan
            for old in [e for e in self.plans
                        if e < self.producer.now.place[0]]:
                del self.plans[old]
        if features is not None:
            self._ask("plan", {"epoch": epoch, "strategy":
                               getattr(self.plan, "__name__", "plan")[:31],
                               "values": {}})
        self.loop.post(lambda: None)

    def _ask(self, kind, head, moved=lambda: False):
        """The answer; None when the run is over, or what was asked is of no
        use any more."""
        def ask():
            self._send(self.client.ask(time.monotonic(), kind, head))
        self.loop.post(ask)
        self.loop.wait(lambda: self.client.answer or moved(), 0.2)
        got, self.client.answer = self.client.answer, None
        return got

    def fetch(self, epoch, planned):
        """The features at the end of an epoch: [v,n,d], nan where there are
        none; None when they are gone, or another epoch is to be planned: the
        trainer went back, and has to have that one first."""
        def moved():
            return self.wanted() != (planned,)
        z, start = None, 0
        while start < self.data.size:
            got = self._ask("features.get", {"epoch": epoch, "from": start,
                                             "plan": planned}, moved)
            if got is None:
                return None
            kind, head, t = got
            if kind == "error" and head.get("state"):
                return None
            if kind == "error":
                time.sleep(0.2)
                continue
            part = t["z"].astype("f4")
            if z is None:
                z = np.full((part.shape[0], self.data.size, part.shape[2]),
                            np.nan, "f4")
            z[:, t["ids"]] = part
            start = head["next"]
        return z


def select(run, data, plan, epochs, lag=None, lease=10.0, keys=None,
           allow=None):
    """Stands in the place of foil-select, until the run is over.

    plan(epoch, features) returns the batches of an epoch, a list of arrays of
    ids.  With lag, features are the embeddings [v,n,d] that the samples had
    at the end of epoch - 1 - lag, nan where a sample had none; they are None
    in the first epochs, and without lag.
    """
    s = _Selector(run, _dataset(data), plan, epochs, lag, lease,
                  Keys(keys, allow) if keys else None)
    while not s.loop.over:
        epoch = s.loop.wait(s.wanted, 0.2)
        if epoch:
            s.make(epoch[0])
    s.loop.join()
    if s.loop.error:
        raise s.loop.error


# ------------------------------------------------------------------- augmenter

class _Augmenter:
    def __init__(self, run, data, options, keys):
        self.data, self.o, self.bad = data, options, {}
        self.loop = Loop(keys)
        self.relay = Relay(options.room)
        hello = _hello("augment", data.about(), recipe=options.recipe)
        edge = "items" if options.filter else "plan"
        size = lambda: data.size
        self.plan = Linked(self.loop, edge, endpoint(run, edge), hello,
                           self._planned, self._pass_on, self._life, size)
        self.said = 0  # room that the selector was told last
        self.last = None  # what it is told when the run is over; until when
        self.batches = Linked(self.loop, "batch", endpoint(run, "batch"),
                              hello, self._trainer, self._met, size=size)
        self.loop.ticks.append(self._tick)
        self.loop.start()

    def _life(self):
        now, self.said = self.relay.now, self.relay.room()
        return now.message(self.said) if now else ("beat",)

    def _pass_on(self):
        if self.relay.now:
            self.plan.send(*self._life())

    def _met(self):
        self.relay.lost()

    def _tick(self, now):
        while self.batches.caller.joined and (batch := self.relay.ready()):
            self.batches.send("batch", *batch)
        if self.plan.caller.joined and self.said != self.relay.room():
            self._pass_on()
        if self.last and self.plan.caller.joined:
            self.plan.send("end", self.last[0])
        if self.last:
            self.loop.over |= self.plan.caller.joined or now >= self.last[1]

    def _trainer(self, kind, head, tensors):
        if kind == "next":
            if self.relay.next(Snapshot.of(head, tensors)) and \
                    self.plan.caller.joined:
                self._pass_on()
        elif kind == "end":
            self.last = head, time.monotonic() + 10
            self._tick(time.monotonic())
        elif kind != "error":
            raise Refused(f"sent {kind}, which has no use here")

    def _planned(self, kind, head, tensors):
        if kind == "item":
            if head["size"] != self.data.size:
                raise Refused(f"item: of {head['size']} samples, this data "
                              f"set has {self.data.size}")
            self.relay.put(head["session"], place_of(head), (head, tensors))
        elif kind == "end":
            self.batches.send("end", head)
            self.loop.over |= head.get("over", False)
        elif kind != "error":
            raise Refused(f"sent {kind}, which has no use here")

    def rng(self, i, epoch, number):
        return np.random.default_rng([self.o.seed, i, epoch, number])

    def _view(self, i, epoch, number):
        """A view, or None where the sample cannot be used."""
        if i in self.bad:
            return None
        try:
            view = np.asarray(self.o.view(self.data[i],
                                          self.rng(i, epoch, number)))
            if view.dtype != np.uint8 or view.ndim != 3:
                raise TypeError(f"a view is {view.dtype} {view.shape}, want "
                                "uint8 [h,w,c]")
            return view
        except TypeError:
            raise
        except Exception as e:
            self.bad[i] = f"'{self.data.names[i]}': {e}"[:250]
            if len(self.bad) > math.ceil(self.o.max_bad * self.data.size):
                raise RuntimeError(f"{len(self.bad)} samples are bad, the "
                                   f"last: {self.bad[i]}") from e
            return None

    def _make(self, i, taken, seen):
        """The views (epoch, number) of a sample, or of one in its place."""
        for j in [i] + np.random.default_rng(
                [self.o.seed, i, seen[0][0]]).permutation(self.data.size)\
                .tolist():
            if j != i and j in taken:
                continue
            views = [self._view(j, *one) for one in seen]
            if all(v is not None for v in views):
                return j, views
        raise RuntimeError("no sample of the data set can be used")

    def make(self, head, t):
        """The batch of an item."""
        epoch, v, a = head["epoch"], self.o.views, head.get("augmentations", 0)
        variants, form = t.get("variants"), t.get("extra_view")
        made = t.get("extra_epoch")
        ids, extra = t["ids"].tolist(), t.get("extra")
        out, swaps = {}, []
        cells, done = [], []
        for k, i in enumerate(ids):
            j, views = self._make(i, set(ids) | set(done), [
                (0, int(variants[n, k])) if a else (epoch, n)
                for n in range(v)])
            swaps += [[i, j]] if j != i else []
            done.append(j)
            cells.append(views)
        more, used = [], []
        for k, i in enumerate([] if extra is None else extra.tolist()):
            named = form is not None and form[k] >= 0
            j, views = self._make(i, set(done), [
                (0 if made is None else int(made[k]), int(form[k])) if named
                else (epoch, v)])
            swaps += [[i, j]] if j != i else []
            used.append(j)
            more += views
        out["ids"] = np.array(done, "i8")
        out["views"] = np.ascontiguousarray(np.stack(
            [np.stack(views) for views in cells], 1))
        if extra is not None:
            out["extra_ids"], out["extra"] = np.array(used, "i8"), \
                np.stack(more)
        for name in ("extra_view", "extra_epoch", "hint_row", "hint_view",
                     "hint_log_q", "variants"):
            if name in t:
                out[name] = t[name]
        about = {k: head[k] for k in (
            "session", "epoch", "step", "steps", "epochs", "encode_only",
            "reserve", "augmentations", "hint_values") if k in head}
        h, w, c = out["views"].shape[2:]
        about.update(height=h, width=w, channels=c, rejected=len(swaps))
        if swaps:
            about["substituted"] = swaps
        return about, out, swaps

    def work(self):
        entry = self.loop.wait(self.relay.take, 0.2)
        if not entry:
            return
        head, tensors = entry.item
        about, out, swaps = self.make(head, tensors)
        at = {k: head[k] for k in ("session", "epoch", "step")}

        def deliver():
            for wanted, _ in swaps:
                if wanted in tensors["ids"]:
                    self.plan.send("reject", {
                        **at, "reason": self.bad.get(wanted, "is bad")},
                        {"ids": np.array([wanted], "i8")})
            who, batch = self.batches.caller.who or {}, (about, out)
            if out["views"].nbytes > who.get("max_batch", 1 << 28):
                self.plan.send("error", {
                    **at, "kind": "item", "reason": "the batch would be "
                    "larger than the trainer takes"})
                batch = None
            self.relay.made(entry, batch)
        self.loop.post(deliver)


def augment(run, data, view, views=2, seed=0, recipe=None, room=2,
            filter=False, max_bad=0.01, keys=None, allow=None):
    """Stands in the place of foil-augment, until the run is over.

    view(image, rng) returns an augmented view, u1 [h,w,c], of the bytes of an
    image's file; all its randomness is from rng, a numpy Generator, which depends on
    seed, sample, epoch and number of the view.  A sample for which it raises
    an exception is replaced by another; of more than the share max_bad that
    is an error.  recipe names the distribution: all augmenters of a run have
    the same.  filter: items come from foil-negatives --filter.
    """
    name = recipe or f"{getattr(view, '__name__', 'view')},{views},{seed}"
    options = types.SimpleNamespace(view=view, views=views, seed=seed,
                                    recipe=name[:63], room=room,
                                    filter=filter, max_bad=max_bad)
    a = _Augmenter(run, _dataset(data), options,
                   Keys(keys, allow) if keys else None)
    while not a.loop.over:
        a.work()
    a.loop.join()
    if a.loop.error:
        raise a.loop.error


# --------------------------------------------------------------------- sampler

class _Sampler:
    def __init__(self, run, weigh, sampler, keeps, keys):
        self.weigh, self.sampler, self.keeps = weigh, sampler, set(keeps)
        self.loop, self.service = Loop(keys), Service()
        self.todo, self.size = collections.deque(), 0
        self.state = State()
        _folder(run)
        self.edge = Bound(self.loop, "negatives", endpoint(run, "negatives"),
                          _hello("negatives", sampler=sampler), self._take,
                          None, self._left, self._size)
        self.loop.start()

    def _size(self):
        return self.edge.binder.hello["dataset"]["size"]

    def _left(self, name):
        self.todo = collections.deque(x for x in self.todo if x[0] != name)

    def _take(self, name, kind, head, tensors):
        if kind == "error":
            return
        if kind not in ("pairs", "state.put"):
            raise Refused(f"'{kind}' is nothing for a sampler")
        if not self._size():
            raise Refused("the data set was not named: its size is unknown")
        known = self.service.asked(name, head)
        if known:
            self.edge.send(name, *known)
            return
        self.state.judge(name, head["session"], self.edge.reaches)
        if not any(x[0] == name and x[2]["id"] == head["id"]
                     for x in self.todo):
            self.todo.append((name, kind, head, tensors))

    def work(self):
        got = self.loop.wait(lambda: self.todo and self.todo[0], 0.2)
        if not got:
            return
        name, kind, head, tensors = got
        answer = getattr(self, "_" + kind.replace(".", "_"))(name, head,
                                                             tensors)
        with self.loop.cond:
            if self.todo and self.todo[0] is got:
                self.todo.popleft()
            self.service.answer(name, head, answer)
        self.loop.post(lambda: self.edge.send(name, *answer))

    def _refuse(self, head, why, **more):
        return "error", {"reason": why[:500], "id": head["id"], **more}

    def _state_put(self, name, head, tensors):
        if head["sampler"] not in ("", self.sampler) and head["tables"]:
            return self._refuse(head, f"the state is of '{head['sampler']}', "
                                f"this is '{self.sampler}'")
        try:
            if not self.state.put(name, head, tensors):
                return self._refuse(head, "these rows do not follow what came "
                                    "of the state: begin with the first",
                                    state=True)
        except (ValueError, TypeError) as e:
            return self._refuse(head, f"a table makes no sense: {e}")
        if head.get("last"):
            missing = set(self.state.lacks(head)) | (
                self.keeps - set(self.state.coming)
                if head["total"] and not head.get("fresh") else set())
            if missing:
                return self._refuse(head, f"a state after {head['total']} "
                                    f"steps, without {sorted(missing)}")
            self.state.stand(head)
        return "state.ok", {k: head[k] for k in ("id", "session", "epoch",
                                                 "step")}

    def _pairs(self, name, head, t):
        if not self.state.stands(head):
            return self._refuse(head, "no state of this session here",
                                state=True)
        for z in ("z", "extra_z"):
            square = (t[z].astype("f8") ** 2).sum(-1) if z in t else 1
            if np.any((square > 0) & ~(abs(square - 1) < 0.02)):
                return self._refuse(head, f"a row of '{z}' is not of unit "
                                    "length")
        tables = self.state.tables
        got = self.weigh(Pairs(head, t, self._size(), tables))
        w, values, touched = (*got, {}, {})[:3] if isinstance(got, tuple) \
            else (got, {}, {})
        self.state.weighed(name, head)
        answer = {"id": head["id"], "accepted": values.pop("accepted", 1.0),
                  "moved": int(values.pop("moved", 0))}
        tensors = {"w": np.ascontiguousarray(w, "f4")}
        if values:
            answer["values"] = {k: float(x) for k, x in values.items()}
        if tables:
            answer["store"] = [[n, *x.shape] for n, x in tables.items()]
        for table, rows in touched.items():
            rows = np.unique(np.asarray(rows, "i8"))
            if len(rows):
                tensors[table + ".at"] = rows
                tensors[table + ".row"] = tables[table][rows]
        return "weights", answer, tensors


class Pairs:
    """What a sampler is asked: embeddings of a batch.

    z      f4 [n,d] of unit length: the v*b anchors, view by view, then the
           further images
    owner  i8 [n] the sample of each row
    anchors  v*b
    ids, views   the samples of the batch [b]; v
    beta   inverse temperature
    size   of the data set
    tables u1 [rows,width] by name: what the trainer keeps for the sampler; it
           may add some
    head, tensors   all of the message
    """

    def __init__(self, head, tensors, size, tables):
        self.head, self.tensors, self.size = head, tensors, size
        self.tables, self.beta, self.ids = tables, head["beta"], tensors["ids"]
        self.views, b, d = tensors["z"].shape
        self.anchors = self.views * b
        self.z = tensors["z"].reshape(self.anchors, d)
        self.owner = np.tile(self.ids, self.views)
        if "extra_z" in tensors:
            self.z = np.concatenate([self.z, tensors["extra_z"]])
            self.owner = np.concatenate([self.owner, tensors["extra_ids"]])

    def similarities(self):
        """s [v*b,n], cosines of anchors and rows: -inf where both are of one
        sample."""
        s = self.z[:self.anchors] @ self.z.T
        s[self.owner[:self.anchors, None] == self.owner[None]] = -np.inf
        return s


def negatives(run, weigh, sampler=None, keeps=(), keys=None, allow=None):
    """Stands in the place of foil-negatives: it serves until it is ended, also
    a trainer that was started again.

    weigh(pairs) returns w [v*b,n], not negative, each row with sum 1; or
    (w, values), with numbers for the metrics; or (w, values, rows), with the
    rows of pairs.tables that changed, {"table": [row ...]}.  The trainer
    keeps these, with its checkpoints, and gives them back to a sampler that
    was started again.  keeps: the names of tables without which a state is
    none.
    """
    name = sampler or f"{getattr(weigh, '__name__', 'weigh')} 1"
    s = _Sampler(run, weigh, name[:63], keeps,
                 Keys(keys, allow) if keys else None)
    while not s.loop.over:
        s.work()
    s.loop.join()
    if s.loop.error:
        raise s.loop.error


# ---------------------------------------------------------------------- events

Event = collections.namedtuple("Event", "kind head tensors")


def events(run, *kinds, timeout=None, keys=None, allow=None):
    """What a trainer publishes, as (kind, head, tensors): "metrics",
    "features", "event", or all.  Ends when the run ends, or when nothing was
    published for `timeout` seconds."""
    loop = Loop(Keys(keys, allow) if keys else None)
    queue = collections.deque()
    wanted = set(kinds or ("metrics", "features", "event"))

    def take(conn, kind, head, tensors):
        judge(kind, head, tensors)
        queue.append(Event(kind, head, tensors))
    sock = loop.open("events", endpoint(run, "events"), False, take,
                     lambda conn, kind, head, why: say(why), zmq.SUB)
    for kind in wanted | {"event"}:
        sock.subscribe(MAGIC + kind.encode())
    loop.start()
    try:
        while True:
            since = time.monotonic()
            late = lambda: timeout and time.monotonic() - since > timeout
            if loop.wait(lambda: queue or late(), 0.2) is True:
                return
            event = queue.popleft()
            if event.kind in wanted:
                yield event
            if event.kind == "event" and event.head["what"] == "stop":
                return
    finally:
        loop.end()


# ----------------------------------------------------------------------- files

def features(path):
    """What foil-embed wrote: x f4 [n,d], ids, labels (or None), about."""
    base = path[:-4] if path.endswith(".npy") else path
    has = lambda end: os.path.exists(base + end)
    with open(base + ".json") as f:
        about = json.load(f)
    return types.SimpleNamespace(
        x=np.load(base + ".npy"), ids=np.load(base + ".ids.npy"),
        labels=np.load(base + ".labels.npy") if has(".labels.npy") else None,
        about=about)


_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
_P32 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
        0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def digest(data):
    """XXH3-128 (the xxHash library) of more than 240 bytes, as 32 digits."""
    data, size = np.frombuffer(data, "u1"), len(data)
    if size <= 240:
        raise ValueError("digest() is for more than 240 bytes")
    acc = np.array([_P32[2], *_P64[:4], _P32[1], _P64[4], _P32[0]], "u8")
    secret = np.lib.stride_tricks.as_strided(
        np.frombuffer(_SECRET, "u1"), (185, 8), (1, 1)).copy().view("<u8")[:, 0]
    keys = np.stack([secret[8 * n:8 * n + 64:8] for n in range(16)])
    low, flip = np.uint64(0xFFFFFFFF), [1, 0, 3, 2, 5, 4, 7, 6]

    def sums(stripes, keys):  # [..,n,8] to [..,8]
        key = stripes ^ keys
        return ((key & low) * (key >> np.uint64(32)) +
                stripes[..., flip]).sum(-2, dtype="u8")
    with np.errstate(over="ignore"):
        blocks = (size - 1) // 1024
        for a in range(0, blocks, 4096):
            e = min(a + 4096, blocks)
            part = data[1024 * a:1024 * e].copy().view("<u8")
            for row in sums(part.reshape(-1, 16, 8), keys):
                acc = acc + row
                acc = (acc ^ acc >> np.uint64(47) ^ secret[128:192:8]) * \
                    np.uint64(_P32[0])
        n = (size - 1 - 1024 * blocks) // 64
        rest = data[1024 * blocks:1024 * blocks + 64 * n].copy().view("<u8")
        acc = acc + sums(rest.reshape(n, 8), keys[:n])
        last = data[size - 64:].copy().view("<u8").reshape(1, 8)
        acc = acc + sums(last, secret[121:185:8][None])
    acc, secret, most = [int(x) for x in acc], secret.tolist(), 2 ** 64 - 1

    def merge(at, start):
        for i in range(4):
            product = (acc[2 * i] ^ secret[at + 16 * i]) * \
                (acc[2 * i + 1] ^ secret[at + 16 * i + 8])
            start += (product & most) ^ (product >> 64)
        start &= most
        start = (start ^ start >> 37) * 0x165667919E3779F9 & most
        return start ^ start >> 32
    return "%016x%016x" % (merge(117, ~(size * _P64[1]) & most),
                           merge(11, size * _P64[0] & most))


_SAFE = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I64": "<i8", "I32": "<i4",
         "U8": "u1", "BOOL": "?"}
_SAFE_NAMES = {np.dtype(t): name for name, t in _SAFE.items()}


def _safetensors(arrays, metadata=None):
    """The bytes of a safetensors file; largest elements first, as aligned."""
    head, at, parts = {"__metadata__": metadata} if metadata else {}, 0, []
    order = sorted(arrays, key=lambda n: -arrays[n].dtype.itemsize)
    offset = {}
    for name in order:
        offset[name] = [at, at := at + arrays[name].nbytes]
        parts.append(np.ascontiguousarray(arrays[name]).tobytes())
    for name, a in arrays.items():
        head[name] = {"dtype": _SAFE_NAMES[a.dtype], "shape": list(a.shape),
                      "data_offsets": offset[name]}
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (max(0, 248 - len(text)) + -len(text) % 8)
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


def _read_safetensors(path):
    with open(path, "rb") as f:
        data = f.read()
    n = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + n])
    meta = head.pop("__metadata__", {})
    out = {}
    for name, about in head.items():
        a, e = about["data_offsets"]
        out[name] = np.frombuffer(data, _SAFE[about["dtype"]], offset=8 + n + a,
                                  count=math.prod(about["shape"])
                                  ).reshape(about["shape"]).copy()
    return out, meta


def _checkpoints(run):
    """Those of a run directory, the newest last."""
    return sorted(glob.glob(os.path.join(run, "step-[0-9]*")),
                  key=lambda p: int(p.rsplit("-", 1)[1]))


def checkpoint(path):
    """A checkpoint, or the newest of a run directory: foil-checkpoint(5).

    model, head    arrays by the names of torchvision; head is {} without one
    optim          the optimiser's, {} where foil.py wrote it
    config         all of config.json
    state          for Trainer(resume=...)
    folder, files  where it is; the names of its files
    """
    if not os.path.exists(os.path.join(path, "MANIFEST.json")):
        steps = _checkpoints(path)
        if not steps:
            raise FileNotFoundError(f"no checkpoint in '{path}'")
        path = steps[-1]
    at = lambda name: os.path.join(path, name)
    with open(at("MANIFEST.json")) as f:
        files = json.load(f)["files"]
    for name, about in files.items():
        if os.path.getsize(at(name)) != about["size"]:
            raise ValueError(f"'{at(name)}' has changed in size")
    with open(at("config.json")) as f:
        config = json.load(f)
    load = lambda name: _read_safetensors(at(name)) if name in files \
        else ({}, {})
    return types.SimpleNamespace(
        folder=path, files=sorted(files), config=config,
        model=load("model.safetensors")[0], head=load("head.safetensors")[0],
        optim=load("optim.safetensors")[0],
        state=_state_of(config, *load("samples.safetensors"),
                        load("features.safetensors")[0]))


def _state_of(config, samples, about, history):
    out = {**config.get("state", {}), **config.get("dataset", {})}
    out["recipe"] = config.get("recipe", "")
    out["epochs"] = out.get("epochs") or None
    out["sampler"] = about.get("sampler", "")
    out["tables"] = {name[len("sampler."):]: t for name, t in samples.items()
                     if name.startswith("sampler.")}
    out["features"], out["past"] = None, {}
    for name in [n for n in history if n + ".about" in history]:
        z = history[name]
        z[:, history[name + ".known"] == 0] = np.nan
        epoch, steps, mode = history[name + ".about"].tolist()
        if name == "running":
            out["features"] = z
        elif epoch >= 0:
            out["past"][epoch] = z, steps, "eval" if mode else "train"
    return out


def _history(state, keep):
    now, past, out = state["features"], state["past"], {}
    for name, epoch in [(f"past.{i}", next((e for e in past if e % keep == i),
                                           None)) for i in range(keep)] + \
            [("running", None)]:
        z, steps, mode = (now, 0, "train") if name == "running" else \
            past.get(epoch, (np.full_like(now, np.nan), 0, "train"))
        known = ~np.isnan(z[0, :, 0])
        out[name] = np.where(known[None, :, None], z, 0).astype("f4")
        out[name + ".known"] = known.astype("u1")
        out[name + ".about"] = np.array(
            [-1 if epoch is None else epoch, steps, mode == "eval"], "i8")
    return out


ENCODER = {"arch": "resnet18", "stem": "small", "norm": "batch",
           "head": "none", "width": 0, "hidden": 0, "basis": 0, "samples": 0,
           "views": 0, "height": 32, "image_width": 32, "channels": 3,
           "mean": [0.485, 0.456, 0.406], "deviation": [0.229, 0.224, 0.225],
           "bf16": False, "direct": False}


def save_checkpoint(run, model, head=None, encoder=None, size=32, state=None,
                    files=None, optim=None, config=None, keep=2):
    """Writes a checkpoint that foil-embed and foil-eval read; returns its path.

    model, head   arrays or tensors by the names of foil-checkpoint(5), as
                  state_dict() gives them; what has the name fc. is left out
                  of a ResNet
    encoder       what differs from ENCODER: {"arch": "resnet18", "head": ..}
    size          of the images
    state         of the Trainer, whose `total` numbers the checkpoint
    files         further files, name to bytes
    optim, config  for a run that foil-train is to go on with: arrays of
                  foil-checkpoint(5), and the config that it wrote
    keep          so many checkpoints of the run stay
    """
    config = config or {}
    spec = {**ENCODER, "height": size, "image_width": size,
            **config.get("encoder", {}), **(encoder or {})}
    state = state or {}
    out = dict(files or {})
    for name, arrays in (("model", model), ("head", head or {})):
        arrays = {k: a.detach().cpu().numpy() if hasattr(a, "detach") else
                  np.asarray(a) for k, a in arrays.items()}
        arrays = {k: a.astype("<f4") if a.dtype.kind == "f" else
                  a.astype("<i8") for k, a in arrays.items()
                  if not (spec["arch"].startswith("resnet") and
                          name == "model" and k.startswith("fc."))}
        if arrays:
            out[name + ".safetensors"] = _safetensors(arrays,
                                                      {"format": "pt"})
    if optim:
        out["optim.safetensors"] = _safetensors(optim, {"format": "pt"})
    tables = {"sampler." + k: t for k, t in state.get("tables", {}).items()}
    out["samples.safetensors"] = _safetensors(
        {**tables, "quarantine": np.zeros((0, 4), "<i8")},
        {"sampler": state.get("sampler", ""),
         "total": str(state.get("total", 0))} if tables else None)
    if state.get("features") is not None:
        out["features.safetensors"] = _safetensors(
            _history(state, max(1, len(state["past"]))))
    counts = ("epoch", "step", "steps", "epochs", "total", "images",
              "substituted", "skipped", "alone")
    out["config.json"] = json.dumps({
        **config, "format": "foil-config", "version": 1, "foil": "foil.py",
        "encoder": spec, "dataset": {"digest": state.get("digest", ""),
                                     "size": state.get("size", 0)},
        "recipe": state.get("recipe", ""),
        "state": {k: state.get(k) or 0 for k in counts}}, indent=2).encode()
    return _commit(run, state.get("total", 0), out, keep)


def _commit(run, total, files, keep):
    name = f"step-{total:08d}"
    temp, final = os.path.join(run, f".{name}.new"), os.path.join(run, name)
    for left in glob.glob(os.path.join(run, ".step-*")):
        shutil.rmtree(left)  # by a kill in the midst of this
    os.makedirs(temp)
    about = {}
    for file, data in sorted(files.items()):
        with open(os.path.join(temp, file), "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        about[file] = {"size": len(data), "digest": digest(data)}
    manifest = {"format": "foil-checkpoint", "version": 1, "files": about}
    line = lambda: json.dumps(manifest, separators=(",", ":")).encode() + b"\n"
    manifest["self"] = digest(line())
    with open(os.path.join(temp, "MANIFEST.json"), "wb") as f:
        f.write(line())
        f.flush()
        os.fsync(f.fileno())
    if os.path.exists(final):  # of the same step: a kill came before `latest`
        shutil.rmtree(final)
    os.rename(temp, final)
    link = os.path.join(run, ".step-latest.new")
    os.symlink(name, link)
    os.rename(link, os.path.join(run, "latest"))
    for old in _checkpoints(run)[:-keep]:
        gone = os.path.join(run, f".{os.path.basename(old)}.old")
        os.rename(old, gone)
        shutil.rmtree(gone)
    return final


# ---------------------------------------------------------------------- loader

def views(data, batch=128, epochs=1, size=0, seed=0, augmenters=1, window=8,
          strategy="shuffle", recipe=None, keep_features=0, select="",
          augment="", deadline=60.0):
    """Batches of augmented views for a loop of one's own: foil-select and
    foil-augment are started, and ended with the loop.

    size      width and height of views; 0: of the recipe
    select    more options of foil-select; augment likewise

    Yields a Batch; with keep_features, of so many epochs, and
    batch.done(z=...), strategies plan from features.
    """
    with tempfile.TemporaryDirectory(prefix="foil-") as run:
        trainer = Trainer(run, window, keep_features, deadline=deadline,
                          signals=False)
        commands = [["foil-select", "-r", run, "--strategy", strategy, "-b",
                     str(batch), "-e", str(epochs), "-s", str(seed),
                     *shlex.split(select), data]]
        commands += augmenters * [[
            "foil-augment", "-r", run, "-s", str(seed), "--size", str(size),
            *(["--recipe", recipe] if recipe else []), *shlex.split(augment),
            data]]
        stages = [_start(c, os.path.join(run, f"{k}.err"))
                  for k, c in enumerate(commands)]
        trainer.loop.post(lambda: trainer.loop.ticks.append(
            lambda now: _watch(stages, run)))
        try:
            yield from trainer
        finally:
            trainer.close()
            for stage in stages:
                try:
                    stage.wait(2)
                except subprocess.TimeoutExpired:
                    stage.kill()
                    stage.wait()


def _start(command, log):
    with open(log, "wb") as f:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=f,
                                stdout=subprocess.DEVNULL)


def _watch(stages, run):
    for k, stage in enumerate(stages):
        if stage.poll() not in (None, 0):
            with open(os.path.join(run, f"{k}.err"), errors="replace") as f:
                said = f.read().strip().splitlines()[-10:]
            raise RuntimeError("\n".join(said) or f"{stage.args[0]} ended with "
                               f"{stage.returncode}")
