"""Attacks on the sockets of a run, one after the other, each at least twice.

usage: strangers.py RUN BATCH TRAIN_PID SELECT_PID

RUN is the run directory, with plan, events and features in it; BATCH the endpoint
tcp://HOST:PORT of the trainer, which requires keys.  The attackers have no key and do
not use ZeroMQ.

Prints for each attack its name, how often it was made, and the maxima of: the memory of
the trainer and of the selector during it, beyond that before all attacks, in KiB, and
how much it could send until it was cut off, in KiB.  Then prints "steps" and the number
of steps during attacks; the attacks are repeated until it is at least STEPS.  "rate" and
"work" are for information: steps per second during attacks relative to the pauses, and
the same per second of processor time of trainer and selector.
"""
import os
import select
import socket
import struct
import sys
import threading
import time

import zmtp
from zmtp import frame, greeting, memory, read

RUN, BATCH, TRAIN, SELECT = sys.argv[1:]
PAUSE = 0.15  # seconds
LASTS = 4  # seconds at most, if it is not cut off; the same on a busy machine
GOES = 2  # at least, of each attack
STEPS = 40
END = time.time() + 180  # later, the run hangs
MIB = 1 << 20
zeros = bytes(MIB)


def steps():
    try:
        with open(RUN + "/metrics.jsonl", "rb") as file:
            return file.read().count(b"\n")
    except OSError:
        return 0  # not yet


def processor(pid):
    """Seconds of processor time; 0 when the process has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            user, system = file.read().rsplit(")", 1)[1].split()[11:13]
            return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


def reach(edge):
    if edge == "batch":
        host, port = BATCH[6:].rsplit(":", 1)
        return socket.create_connection((host, int(port)))
    s = socket.socket(socket.AF_UNIX)
    s.connect(f"{RUN}/{edge}")
    return s


def shake(edge, kind):
    return zmtp.shake(reach(edge), kind)


def push(socks, chunk):
    """Sends the chunk again and again until all sockets are closed; returns how many
    bytes were taken."""
    taken, until = 0, time.time() + LASTS
    for s in socks:
        s.setblocking(False)
    left = {s: b"" for s in socks}
    while left and time.time() < until:
        for s in select.select([], list(left), [], 0.05)[1]:
            try:
                bytes_ = left[s] or chunk
                sent = s.send(bytes_)
                taken += sent
                left[s] = bytes_[sent:]
            except BlockingIOError:
                pass
            except OSError:
                del left[s]
    for s in socks:
        s.close()
    return taken


def prehandshake():
    """30 connections, each with a frame of 1 GiB instead of CURVE's HELLO."""
    socks = []
    for _ in range(30):
        s = reach("batch")
        s.sendall(greeting(b"CURVE") + struct.pack(">BQ", 6, (1 << 30) - 100))
        socks.append(s)
    return push(socks, zeros)


def huge():
    """One part of 900 MiB."""
    s = shake("plan", b"DEALER")
    s.sendall(struct.pack(">BQ", 2, 900 * MIB))
    return push([s], zeros)


def endless():
    """Messages of large and of small parts without end."""
    socks = [shake(edge, b"DEALER") for edge in ("plan", "features") * 2]
    return (push(socks[:2], frame(1, zeros)) +
            push(socks[2:], frame(1, zeros[:100]) * 1000))


def after_hello():
    """The same from a peer after a valid hello."""
    s = shake("plan", b"DEALER")
    hello = (b"\x85\xa4peer\xa1x\xa5stage\xa7augment\xa7version\2\xa3run\xa0\xa7dataset"
             b"\x82\xa6digest\xa0\xa4size\0")
    s.sendall(frame(1, b"foil3.hello") + frame(0, hello))
    if b"foil3.hello" not in read(s, 40):
        sys.exit("the selector does not answer hello")
    return push([s], frame(1, zeros[:60000]))


def subscriptions():
    """Subscriptions to random topics, short and long."""
    socks = [shake("events", b"SUB") for _ in range(2)]
    long = b"".join(frame(0, b"\1" + os.urandom(1000)) for _ in range(1000))
    short = b"".join(frame(0, b"\1" + os.urandom(30)) for _ in range(9000))
    return push(socks[:1], long) + push(socks[1:], short)


def many():
    """More connections than the run may have files."""
    socks = []
    for edge in ("plan", "events"):
        for _ in range(1100):
            try:
                socks.append(reach(edge))
            except OSError:
                pass
    time.sleep(0.3)
    for s in socks:
        s.close()
    return 0


peak = {}


def watch():
    while True:
        for pid in (TRAIN, SELECT):
            peak[pid] = max(peak.get(pid, 0), memory(pid))
        time.sleep(0.005)


def pace(what):
    """The result of what(), and the steps, seconds and processor seconds it took."""
    used = processor(TRAIN) + processor(SELECT)
    a, t = steps(), time.time()
    got = what()
    return got, (steps() - a, time.time() - t,
                 processor(TRAIN) + processor(SELECT) - used)


def main():
    attacks = (prehandshake, huge, many, endless, after_hello, subscriptions)
    while steps() < 50:
        if not memory(TRAIN) or time.time() > END:
            sys.exit("the run has not trained 50 steps")
        time.sleep(0.01)
    time.sleep(PAUSE)
    before = {pid: memory(pid) for pid in (TRAIN, SELECT)}
    threading.Thread(target=watch, daemon=True).start()
    calm, hard, made = [0] * 3, [0] * 3, {a: [0] * 4 for a in attacks}
    wanted = attacks
    while wanted and time.time() < END:
        for attack in wanted:
            _, spent = pace(lambda: time.sleep(PAUSE))
            calm = [x + y for x, y in zip(calm, spent)]
            peak.clear()
            try:
                taken, spent = pace(attack)
            except OSError:
                continue  # cut off in the handshake
            hard = [x + y for x, y in zip(hard, spent)]
            time.sleep(0.02)
            if not memory(TRAIN) or not memory(SELECT):
                sys.exit("the run is over")
            more = [peak.get(pid, 0) - before[pid] for pid in (TRAIN, SELECT)]
            was = made[attack]
            made[attack] = [was[0] + 1, *map(max, was[1:], more + [taken >> 10])]
        wanted = [a for a in attacks if made[a][0] < GOES or hard[0] < STEPS]
    for attack, was in made.items():
        print(attack.__name__, *was)
    print("steps", hard[0])
    for name, i in ("rate", 1), ("work", 2):
        a, b = (spent[0] / max(spent[i], 0.001) for spent in (calm, hard))
        print(name, round(b / max(a, 0.001), 3))


main()
