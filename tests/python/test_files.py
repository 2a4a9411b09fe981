"""Messages, data sets and checkpoints of foil.py, against the tools of foil.
usage: test_files.py SCRATCH-FOLDER FOLDER-OF-PAGES, with foil's tools on PATH
"""
import json
import os
import re
import subprocess
import sys

import msgpack
import numpy as np
import zmq

import foil
from tap import ok, refuses, run

os.chdir(sys.argv[1])
PLACE = {"session": 1, "epoch": 0, "step": 0}
IDS = np.arange(3)
Z = np.zeros((2, 3, 4), "f4")
MESSAGES = {
    "hello": ({"stage": "train", "version": 2, "run": "", "peer": "p",
               "dataset": {"digest": "", "size": 0}}, {}),
    "error": ({"reason": "no"}, {}),
    "next": ({**PLACE, "serial": 1, "window": 8},
             {"have": np.array([[0, 1]])}),
    "end": (PLACE, {}),
    "beat": ({}, {}),
    "reject": ({**PLACE, "reason": "torn"}, {"ids": IDS}),
    "item": ({**PLACE, "run": "", "size": 9, "steps": 3, "epochs": 1},
             {"ids": IDS, "extra": IDS}),
    "batch": ({**PLACE, "steps": 3, "epochs": 1, "height": 2, "width": 2,
               "channels": 3, "rejected": 0},
              {"ids": IDS, "views": np.zeros((2, 3, 2, 2, 3), "u1")}),
    "pairs": ({"id": 1, **PLACE, "beta": 2.0}, {"ids": IDS, "z": Z}),
    "weights": ({"id": 1, "accepted": 1.0, "moved": 0},
                {"w": np.ones((6, 6), "f4")}),
    "state.put": ({"id": 1, **PLACE, "sampler": "s", "total": 0,
                   "tables": []}, {}),
    "state.ok": ({"id": 1, **PLACE}, {}),
    "features": ({"epoch": 0, "step": 0, "mode": "train", "dim": 4},
                 {"ids": IDS, "z": Z}),
    "features.get": ({"id": 1, "epoch": 0, "from": 0}, {}),
    "plan": ({"id": 1, "epoch": 0, "strategy": "s", "values": {}}, {}),
    "event": ({"sequence": 0, "what": "step", "epoch": 0, "step": 0}, {}),
    "metrics": ({"sequence": 0, "stage": "train", "step": 0, "values": {}},
                {}),
    "status": ({"sequence": 0, "stage": "augment", "number": 1, "values": {}},
               {}),
}


def frames():
    context = zmq.Context()
    a, b = context.socket(zmq.PAIR), context.socket(zmq.PAIR)
    a.bind("inproc://x")
    b.connect("inproc://x")
    sent = {t: np.arange(6).astype(np.dtype(t)).reshape(2, 3)
            for t in ("u1", "i4", "i8", "f4", "f8", "f2")}
    foil.send(a, b"", "state.ok", {"id": 1, **PLACE}, sent)
    parts = b.recv_multipart(copy=False)
    kind, head, got = foil.unpack(parts)
    ok(kind == "state.ok" and head == {"id": 1, **PLACE} and
       all((got[t] == sent[t]).all() and got[t].dtype == sent[t].dtype
           for t in sent), "each dtype goes through a socket and back")
    ok(all(np.shares_memory(got["u1"], np.frombuffer(parts[2], "u1"))
           and got[t].flags.writeable for t in sent),
       "tensors are the memory of the message, and may be written to")
    context.destroy()


def malformed():
    def one(head, *parts, first=b"foil2.beat"):
        return [first, head if isinstance(head, bytes) else
                msgpack.packb(head), *parts]
    for what, frames in (
            ("peer speaks foil1, this is foil2", one({}, first=b"foil1.beat")),
            ("no message 'done'", one({}, first=b"foil2.done")),
            ("twice", one(b"\x82\xa1a\x01\xa1a\x02")),
            ("no msgpack", one(b"\xc1")),
            ("no msgpack", one(b"\x81\xa1a\xd4\x01\x00")),
            ("no map", one([1])),
            ("at most 65536", one({"a": "x" * 65536})),
            ("1 tensors, 0 announced", one({}, b"x")),
            ("makes no sense", one({"tensors": [["x", "u1", [2]]]}, b"x")),
            ("makes no sense", one({"tensors": [["x", "u9", [1]]]}, b"x")),
            ("makes no sense", one({"tensors": [["x", "u1", [-1]]]}, b"x")),
            ("makes no sense", one({"tensors": [["x", "u1", 7 * [1]]]}, b"x")),
            ("makes no sense", one({"tensors": [7]}, b"x")),
            ("no list", one({"tensors": 7}))):
        ok(refuses(foil.Refused, what, foil.unpack, frames),
           f"refused: {what}: {frames[1][:20]}")


def fields():
    ok(set(MESSAGES) == set(foil.KINDS), "there is an example of each kind")
    for kind, (head, tensors) in MESSAGES.items():
        foil.judge(kind, {**head, "more": 1}, tensors, 9)
        missing = [k for k in head if not refuses(
            foil.Refused, "missing", foil.judge, kind,
            {n: x for n, x in head.items() if n != k}, tensors, 9)]
        wrong = [k for k in head if not refuses(
            foil.Refused, k, foil.judge, kind, {**head, k: None}, tensors, 9)]
        ok(not missing and not wrong, f"{kind}: each field must be there and "
           f"of its type, others do not matter: {missing} {wrong}")
    item, tensors = MESSAGES["item"]
    for what, more, t in (
            ("outside", {}, {"ids": np.array([9])}),
            ("twice", {}, {"ids": np.array([1, 1])}),
            ("step 3 is not below", {"step": 3}, tensors),
            ("'epochs'", {"epochs": 2 ** 32 + 1}, tensors),
            ("'session'", {"session": True}, tensors),
            ("'ids' is", {}, {"ids": IDS.astype("i4")}),
            ("'ids' is", {}, {"ids": IDS[:0]}),
            ("'extra_view' is", {}, {**tensors, "extra_view": IDS[:2]})):
        ok(refuses(foil.Refused, what, foil.judge, "item", {**item, **more},
                   t, 9), f"item refused: {what}")
    batch, tensors = MESSAGES["batch"]
    ok(refuses(foil.Refused, "have to be whole", foil.judge, "batch",
               {**batch, "shard": [0, 2]}, tensors, 9),
       "a batch that is a shard of its item is refused")
    hello = {**MESSAGES["hello"][0], "recipe": ""}
    ok(not foil.unfit(hello, {**hello, "peer": "x"}) and "several trainers" in
       foil.unfit(hello, {**hello, "peer": "x", "part": [0, 2]}),
       "and so is a hello of a part")
    ok(refuses(foil.Refused, "a day ahead", foil.judge, "next",
               {**MESSAGES["next"][0], "session": 2 ** 62}, {}, 0, 1e9),
       "a session in the far future is refused")


def page():
    """Fields of each kind by foil-wire(5): name, and whether it may be
    missing."""
    kinds, groups, at, table, on = {}, {}, [], False, False
    with open(os.path.join(sys.argv[2], "foil-wire.5")) as f:
        for line in f.read().splitlines():
            if line.startswith(".Sh"):
                on = line == ".Sh MESSAGES"
            elif on and line.startswith(".Ss "):
                at = line[4:].split(", ")
                kinds.update((k, {}) for k in at if k[0] != "(")
            elif line == ".Bd -literal -compact":
                table = True
            elif line == ".Ed":
                table = False
            elif on and table and line and line[0] != " ":
                name, *about = line.split("  ", 1)
                fields = groups.get(name, {name.strip("[]"): name[0] == "["})
                if "".join(about).strip().startswith("size ") or "." in name \
                        and not name.startswith("NAME"):
                    continue
                for kind in at:
                    (groups if kind[0] == "(" else kinds).setdefault(
                        kind, {}).update(fields)
    return kinds


def like_the_page():
    kinds = page()
    ok(set(kinds) == set(foil.KINDS), "the kinds are those of foil-wire(5): "
       f"{set(kinds) ^ set(foil.KINDS)}")
    for kind, rules in foil._RULES.items():
        mine = {r[1]: bool(r[0]) for half in rules for r in half}
        there = kinds.get(kind, {})
        wrong = {n for n in mine if mine[n] != there.get(n)} | \
            {n for n in there if n not in mine and not there[n]}
        ok(not wrong, f"{kind}: its fields are those of the page: {wrong}")


def words(line):
    """The arguments of a line of mdoc: quotes are its own."""
    cells = re.findall(r'"((?:[^"]|"")*)"|(\S+)', line)
    return [a or b for a, b in cells]


def examples_of_the_page():
    """Each text in foil-python(7) that looks like Python, as it is printed."""
    with open(os.path.join(sys.argv[2], "foil-python.7")) as f:
        lines = f.read().splitlines()
    texts, block = [], None
    for line in lines:
        if line.startswith(".Bd -literal"):
            block = []
        elif line == ".Ed" and block is not None:
            texts, block = texts + ["\n".join(block)], None
        elif block is not None:
            block.append(line)
        elif re.match(r"\.([LQ]l|Li) ", line):
            said = words(line[4:])
            while said[-1] in (".", ",", ";", ":"):
                said.pop()
            texts.append(" ".join(said))
    wrong, seen = [], 0
    for text in texts:
        text = text.replace(r"\(dq", '"')
        if re.search(r"[(={]", text) and not re.match(r"python3|make", text):
            seen += 1
            try:
                body = text if "\n" in text or text[-1] != ":" else text + " 0"
                compile(re.sub(r"^with .*", r"\g<0>: 0", body), "page", "exec")
            except SyntaxError:
                wrong.append(text)
    ok(seen > 8 and not wrong, f"all Python in foil-python(7) is Python: {seen} "
       f"pieces, {wrong}")


def data_sets():
    subprocess.run("foil-data generate -o d.tar --size 8 40 && "
                   "foil-data index d.tar && tar xf d.tar 000007.jpg && "
                   "foil-data split -n 5 d.tar five.foil rest.foil",
                   shell=True, check=True, stderr=subprocess.DEVNULL)
    d = foil.Dataset("d.tar")
    with open("000007.jpg", "rb") as f:
        ok(d[7] == f.read(), "a data set gives the JPEG of a sample")
    ok(len(d) == 40 and d.labels[7] == 7 and d.names[7] == "000007.jpg" and
       len(d.captions[7]) == 2, "with label, name and captions")
    five = foil.Dataset("five.foil")
    ok(five[0] == d[d.names.index(five.names[0])],
       "of a part, the same as of the whole")
    ok(refuses(OSError, "no.tar", foil.Dataset, "no.tar"),
       "what cannot be opened is said as foil-data says it")


def checkpoints():
    rng = np.random.default_rng(0)
    w = {"fc.weight": rng.normal(size=(12, 192)).astype("f4"),
         "fc.bias": rng.normal(size=12).astype("f4")}
    head = {"head.0.weight": rng.normal(size=(8, 12)).astype("f4"),
            "head.0.bias": np.zeros(8, "f4")}
    z = rng.normal(size=(2, 40, 8)).astype("f4")
    z[:, 3] = np.nan
    state = {"epoch": 1, "step": 2, "total": 12, "images": 96, "epochs": 3,
             "digest": "ab" * 16, "size": 40, "recipe": "r", "sampler": "s 1",
             "tables": {"t": rng.integers(0, 256, (40, 3), "u1")},
             "features": z, "past": {0: (z + 1, 10, "train")}}
    path = foil.save_checkpoint(
        "ck", w, head, {"arch": "linear", "hidden": 12, "head": "8"}, size=8,
        state=state, files={"mine.txt": b"x" * 300})
    ok(path == "ck/step-00000012" and os.readlink("ck/latest") ==
       "step-00000012", "a checkpoint is named by its steps")
    embed = subprocess.run(
        ["foil-embed", "-o", "h.npy", "ck", "d.tar"], capture_output=True,
        text=True)
    print("# " + embed.stderr.replace("\n", "\n# "))
    subprocess.run(["foil-embed", "--raw", "--size", "8", "-o", "raw.npy",
                    "d.tar"], check=True, stderr=subprocess.DEVNULL)
    x = foil.features("raw.npy").x.reshape(40, 8, 8, 3)
    x = ((x - [.485, .456, .406]) / [.229, .224, .225]).transpose(0, 3, 1, 2)
    h = foil.features("h.npy")
    ok(embed.returncode == 0 and np.abs(
        x.reshape(40, -1) @ w["fc.weight"].T + w["fc.bias"] - h.x).max() < 1e-4
       and (h.labels == foil.Dataset("d.tar").labels).all(),
       "foil-embed reads it: features are those of the weights")
    loss = subprocess.run(["foil-eval", "loss", "ck", "d.tar"],
                          capture_output=True, text=True)
    ok(loss.returncode == 0 and json.loads(loss.stdout)["loss"] > 0,
       "so does foil-eval loss")
    back = foil.checkpoint("ck")
    same = back.state
    ok(all((back.model[k] == w[k]).all() for k in w) and
       all((back.head[k] == head[k]).all() for k in head) and
       "mine.txt" in back.files, "it reads back with the same weights")
    ok(all(same[k] == state[k] for k in (
        "epoch", "step", "total", "images", "epochs", "digest", "size",
        "recipe", "sampler")) and (same["tables"]["t"] ==
                                   state["tables"]["t"]).all() and
       np.array_equal(same["features"], z, equal_nan=True) and
       np.array_equal(same["past"][0][0], z + 1, equal_nan=True) and
       same["past"][0][1:] == (10, "train"),
       "and with all that a trainer has to know")
    with open("ck/latest/mine.txt", "ab") as f:
        f.write(b"!")
    ok(refuses(ValueError, "mine.txt' has changed", foil.checkpoint, "ck"),
       "a file that has changed is refused")
    for total in (13, 14):
        foil.save_checkpoint("ck", w, state={**state, "total": total},
                             encoder={"arch": "linear", "hidden": 12}, size=8)
    ok(sorted(os.listdir("ck")) == ["latest", "step-00000013",
                                    "step-00000014"],
       "the newest two stay, and nothing half written")


def digests():
    rng, wrong = np.random.default_rng(1), []
    os.makedirs("sizes/step-00000001")
    sizes = [241, 256, 1024, 1025, 1088, 1089, 2048, 2049, 5000, 1 << 20,
             5 << 20]
    for n in sizes:
        data = rng.integers(0, 256, n, "u1").tobytes()
        foil._commit(f"run{n}", 1, {"one": data, "two": data[::-1],
                                    "three": data * 2, "four": data},
                     2)
        said = subprocess.run(["foil-embed", "-o", "x.npy", f"run{n}",
                               "d.tar"], capture_output=True, text=True).stderr
        if "config.json" not in said or "digest" in said or "damaged" in said:
            wrong.append((n, said))
    ok(not wrong, f"files of {len(sizes)} sizes: digests are what foil finds: "
       f"{wrong}")


run(frames, malformed, fields, like_the_page, examples_of_the_page, data_sets,
    checkpoints, digests)
