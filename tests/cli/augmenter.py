"""
augmenter.py BATCH-ENDPOINT [key=value ...]: an augmenter in Python that sends foil-train
the same noise each time and ends when the run is over.

    steps, epochs, images, side   of the plan: 4 2 8 8
    size, digest                  of the data set: 64 ab...
    white=E:S     all pixels of that batch are 255, all others black
    replaced=E:S  in that batch, image 1 is the substitute of image 63
    texts=K       one view, and one of K captions per image; 514 tokens
    end=N         the token that ends a caption: 513
    shard=1       the first batch claims to be a shard until that is refused
    nap           seconds before each batch
"""
import os
import random
import sys
import time

import msgpack
import zmq

option = dict(steps=4, epochs=2, images=8, side=8, size=64, digest="ab" * 16,
              white="", replaced="", nap=0, texts=0, end=513,
              shard=0)
for word in sys.argv[2:]:
    key, value = word.split("=")
    option[key] = type(option[key])(float(value)) if key != "digest" and \
        isinstance(option[key], int) and key != "nap" else value
steps, epochs, b, side = (option[k] for k in ("steps", "epochs", "images",
                                              "side"))
socket = zmq.Context().socket(zmq.DEALER)
socket.reconnect_ivl = 10  # the trainer may come later
socket.connect(sys.argv[1])


def send(kind, header, *tensors):
    socket.send_multipart([b"foil3." + kind, msgpack.packb(header), *tensors])


def hello():
    send(b"hello", {"stage": "augment", "version": 3, "run": "",
                    "peer": f"augmenter-{os.getpid()}", "recipe": "augmenter.py",
                    "dataset":
                    {"digest": option["digest"], "size": option["size"]}})


def pixels(epoch, step, views):
    count = views * b * side * side * 3
    if option["white"]:
        white = option["white"] == "%d:%d" % (epoch, step)
        return (b"\xff" if white else b"\0") * count
    return random.Random(1000 * epoch + step).randbytes(count)


def captions(epoch, step):
    """Rows of start, letters, end: their names and shapes, and their bytes."""
    noise = random.Random(7000 * epoch + step)
    lengths = [2 + noise.randrange(9) for _ in range(b)]
    rows = [[512] + [noise.randrange(256) for _ in range(n - 2)] +
            [option["end"]] for n in lengths]
    longest = max(lengths)
    rows = [row + [0] * (longest - len(row)) for row in rows]
    which = [noise.randrange(option["texts"]) for _ in range(b)]
    return ([["tokens", "i4", [b, longest]], ["lengths", "i4", [b]],
             ["captions", "i4", [b]]],
            [b"".join(i.to_bytes(4, "little") for i in numbers)
             for numbers in (sum(rows, []), lengths, which)])


def batch(session, epoch, step):
    time.sleep(float(option["nap"]))
    views = 1 if option["texts"] else 2
    order = random.Random(epoch).sample(range(option["size"]), b * steps)
    ids = order[step * b:(step + 1) * b]
    header = {"session": session, "epoch": epoch, "step": step, "steps": steps,
              "epochs": epochs, "height": side, "width": side, "channels": 3,
              "rejected": 0, "tensors": [["ids", "i8", [b]],
                                         ["views", "u1", [views, b, side, side, 3]]]}
    tensors = []
    if option["texts"]:
        names, tensors = captions(epoch, step)
        header.update(most_captions=option["texts"], vocabulary=514)
        header["tensors"] += names
    if option["shard"] and (epoch, step) == (0, 0):
        header["shard"] = [0, 2]
    if option["replaced"] == "%d:%d" % (epoch, step):
        if 1 in ids:  # no sample is in a batch twice
            ids[ids.index(1)] = ids[0]
        ids[0] = 1
        header.update(rejected=1, substituted=[[63, 1]])
    send(b"batch", header, b"".join(i.to_bytes(8, "little") for i in ids),
         pixels(epoch, step, views), *tensors)


def wanted():
    """The first place that is wanted and was not sent yet, or None."""
    at = newest["epoch"], newest["step"]
    for _ in range(newest["window"]):
        if at[1] >= steps:
            at = at[0] + 1, 0
        if at[0] >= epochs:
            return None
        if at not in have and at not in sent:
            return at
        at = at[0], at[1] + 1
    return None


hello()
newest, have, sent, beat = {"session": 0, "serial": 0}, set(), set(), time.time()
ready = None
while True:
    if socket.poll(0 if ready else 200):
        kind, header, *parts = socket.recv_multipart()
        kind, header = kind[6:], msgpack.unpackb(header)
        if kind == b"want":
            known = newest["session"], newest["serial"]
            if (header["session"], header["serial"]) > known:
                if header["session"] > known[0]:
                    sent = set()
                newest = header
                flat = memoryview(parts[0]).cast("q") if parts else []
                have = set(zip(flat[::2], flat[1::2]))
                sent -= have
        elif kind == b"end":
            print("end")
            break
        elif kind == b"error":
            print(header["reason"])
            if option["shard"] and header.get("kind") == "batch":
                option["shard"] = 0
                sent.discard((0, 0))
                continue
            if not header.get("rehello"):
                break
            newest, sent = {"session": 0, "serial": 0}, set()
            hello()
    if time.time() - beat > 1:
        send(b"heartbeat", {})
        beat = time.time()
    ready = wanted() if newest["session"] else None
    if ready:
        batch(newest["session"], *ready)
        sent.add(ready)
