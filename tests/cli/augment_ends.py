"""augment_ends.py DIR PEERS SIZE STEPS BATCH [EXTRA [TEXTS]]: the selector and the
trainer of a test of foil-augment.

Binds DIR/plan as a selector of two epochs of SIZE samples and DIR/batch as a trainer.
Sends every item, and again if its augmenter is silent for SILENCE seconds.  Ends the
run when it has all batches and PEERS augmenters have connected.  Prints a line for each
batch: place, ids, digest of the pixels, substitutes, extra ids, variants, and its texts
as JSON, if there are any.  The trainer wants WINDOW (environment, else 4) batches; with
1 it waits for each.  DIR/received counts the batches; DIR/views has the pixels of the
first batch of epoch 0; DIR/end.train and DIR/end.select name the end message that
arrived there from the other side.  Rejected samples go to stderr.
"""
import hashlib
import json
import os
import sys
import time

import msgpack
import zmq

folder, (peers, size, steps, b) = sys.argv[1], map(int, sys.argv[2:6])
extra, texts = (list(map(int, sys.argv[6:8])) + [0, 0])[:2]
EPOCHS, WINDOW, SILENCE = 2, int(os.environ.get("WINDOW", 4)), 3
session = time.time_ns()
keys = [(e, s) for e in range(EPOCHS) for s in range(steps)]
received, holder, room, last_message, known, serial = {}, {}, {}, {}, set(), 0
relayed = {}  # the newest snapshot that each peer relayed to the selector


def ids_of(epoch, step, n, stride):
    first = epoch * 7 + step * n
    return [(first + i * stride) % size for i in range(n)]


def i8(ids):
    return b"".join(i.to_bytes(8, "little") for i in ids)


def send(sock, peer, kind, head, *tensors):
    sock.send_multipart([peer, b"foil3." + kind, msgpack.packb(head),
                         *tensors])


def first():
    return next((k for k in keys if k not in received), (EPOCHS, 0))


def place():
    e, s = first()
    return {"session": session, "epoch": e, "step": s}


def send_next(to):
    """Sends a snapshot: all batches in order are trained, the others held."""
    global serial
    serial += 1
    have = [k for k in keys if k in received and k > first()][:WINDOW]
    head = dict(place(), serial=serial, window=WINDOW)
    if have:
        head["tensors"] = [["have", "i8", [len(have), 2]]]
    for peer in to:
        send(batch, peer, b"want", head, *([i8(sum(have, ()))] if have else []))


def item(peer, e, s):
    tensors = [["ids", "i8", [b]]]
    tensors += [["extra", "i8", [extra]]] if extra else []
    tensors += [["extra_texts", "i8", [texts, 2]]] if texts else []
    head = dict(session=session, epoch=e, step=s, run="", size=size,
                steps=steps, epochs=EPOCHS, tensors=tensors)
    data = [i8(ids_of(e, s, b, 1))]
    if extra:
        data.append(i8(ids_of(e, s, extra, 3)))
    if texts:
        data.append(i8(sum(((i, i % 2) for i in ids_of(e, s, texts, 5)), ())))
    send(plan, peer, b"item", head, *data)


def receive(sock, stage):
    """Receives one message; an unknown peer must send hello first.  Returns peer,
    kind, head and data."""
    peer, kind, head, *data = sock.recv_multipart()
    kind, head = kind.decode()[6:], msgpack.unpackb(head)
    last_message[peer] = time.monotonic()
    if kind == "hello":
        send(sock, peer, b"hello", dict(head, stage=stage, peer=stage))
        known.add((stage, peer))
        if stage == "train":
            send_next([peer])
    elif (stage, peer) not in known:
        send(sock, peer, b"error", {"reason": "who are you", "rehello": True})
    else:
        return peer, kind, head, data
    return peer, "", {}, []


def take_batch(peer, head, data):
    key = head["epoch"], head["step"]
    names = [t[0] for t in head["tensors"]]
    part = dict(zip(names, data))
    line = (key, memoryview(part["ids"]).cast("q").tolist(),
            hashlib.sha256(part["views"] + part.get("extra", b"")).hexdigest(),
            head.get("substituted", []),
            memoryview(part.get("extra_ids", b"")).cast("q").tolist(),
            memoryview(part.get("variants", b"")).cast("q").tolist())
    if "tokens" in part:
        text = {name: memoryview(part[name]).cast(
            "q" if name in ("ids", "extra_texts") else "i").tolist()
            for name in part if name in ("ids", "captions", "extra_texts") or
            name.endswith(("tokens", "lengths"))}
        line += (json.dumps(dict(text, most_captions=head["most_captions"],
                                 vocabulary=head["vocabulary"])),)
    assert received.setdefault(key, line) == line, "a repeat differs"
    if key == (0, 0):
        with open(folder + "/views", "wb") as file:
            file.write(part["views"])
    with open(folder + "/received", "w") as file:
        print(len(received), file=file)
    send_next([p for stage, p in known if stage == "train"])


plan, batch = (zmq.Context.instance().socket(zmq.ROUTER) for _ in "12")
plan.bind(f"ipc://{folder}/plan")
batch.bind(f"ipc://{folder}/batch")
poller = zmq.Poller()
poller.register(plan, zmq.POLLIN)
poller.register(batch, zmq.POLLIN)


def is_over():
    """All batches are there, and each live augmenter has relayed a last snapshot,
    and so every message before it."""
    global last
    if len(received) < len(keys) or len(known) < 2 * peers:
        return False
    if not last:
        send_next([p for stage, p in known if stage == "train"])
        last = serial
    return all(relayed[p] == last for p in relayed
               if time.monotonic() - last_message[p] <= SILENCE)


last = 0
while not is_over():
    ready = dict(poller.poll(200))
    if plan in ready:
        peer, kind, head, data = receive(plan, "select")
        if kind == "want":
            room[peer], relayed[peer] = head["room"], head["serial"]
        elif kind == "reject":
            ids = memoryview(data[0]).cast("q").tolist()
            print("rejected", *ids, head["reason"], file=sys.stderr)
    if batch in ready:
        peer, kind, head, data = receive(batch, "train")
        if kind == "batch":
            take_batch(peer, head, data)
    now = time.monotonic()
    window = [k for k in keys if k >= first()][:WINDOW]
    for peer in room:
        free = [k for k in window if k not in received and
                (k not in holder or now - last_message[holder[k]] > SILENCE)]
        has = [k for k in window if k not in received and holder.get(k) == peer]
        if now - last_message[peer] <= SILENCE:
            for key in free[:max(0, room[peer] - len(has))]:
                item(peer, *key)
                holder[key] = peer


def wait_for_end(sock, stage):
    """Waits for the end message that an augmenter relays; returns its header."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if sock.poll(200):
            _, kind, head, _ = receive(sock, stage)
            if kind == "end":
                return head
    return {}


for stage, peer in known:
    if stage == "select":
        send(plan, peer, b"end", place())
passed = [wait_for_end(batch, "train")]
# Unread messages are lost when the connection ends, so wait for the peers.
batch.setsockopt(zmq.ROUTER_MANDATORY, 1)
deadline = time.monotonic() + 60
for stage, peer in known:
    while stage == "train" and time.monotonic() < deadline:
        try:
            send(batch, peer, b"end", dict(place(), over=True))
        except zmq.ZMQError:
            break
        time.sleep(0.02)
passed.append(wait_for_end(plan, "select"))
for stage, end in zip(("train", "select"), passed):
    if {k: end.get(k) for k in place()} == place():
        print(stage, "over" * end.get("over", False),
              file=open(f"{folder}/end.{stage}", "w"))
for key in keys:
    print(*received[key])
