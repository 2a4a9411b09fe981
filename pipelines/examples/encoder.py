#!/usr/bin/python3
"""A linear encoder with momentum in NumPy, by foil-encoder(5) alone.
usage: foil-train --encoder 'python3 encoder.py' --lr 0.1"""
import os
import sys

import numpy as np

D, MOMENTUM = 16, 0.9
for line in sys.stdin:
    word, _, *words = line.split()
    o = dict(w.split("=", 1) for w in words if "=" in w)
    n = {k: int(v) for k, v in o.items() if v.isdigit()}
    answer = ""
    if word == "open":
        rows, shape = n["rows"], (n["height"], n["width"], n["channels"])
        pixels = int(np.prod(shape))
        rng = np.random.default_rng(n["seed"])
        w = rng.normal(size=(D, pixels)).astype("f4") / np.float32(np.sqrt(pixels))
        moved = np.zeros_like(w)
        print(f"tensor fc.weight parameter {D}x{pixels}")
        answer = f"dim={D}"
    elif word == "layout":
        memory = np.memmap(os.environ["FOIL_MEMORY"], "u1", "r+")
        def at(name, count, dtype="f4"):
            size = count * np.dtype(dtype).itemsize
            return memory[n[name]:n[name] + size].view(dtype)
        slots = [at(f"input{k}", rows * pixels, "u1").reshape(rows, pixels)
                 for k in (0, 1)]
        z, dz = (at(k, rows * D).reshape(rows, D) for k in ("z", "dz"))
        there = at("parameters", w.size).reshape(w.shape)
    elif word == "forward":
        x = slots[n["slot"]][n["from"]:n["to"]].astype("f4") / 255 - 0.5
        z[n["from"]:n["to"]] = x @ w.T
    elif word == "backward":
        one = dz[n["from"]:n["to"]].T @ x
        gradient = gradient + one if n["add"] else one
    elif word == "norm":
        answer = f"norm={np.linalg.norm(gradient):.17g} steady=1"
    elif word == "update":
        moved = MOMENTUM * moved + gradient
        w = w - np.float32(o["rate"]) * moved
    elif word == "get":
        there[:] = w
        answer = "steps=0"
    elif word == "put":
        w = there.copy()
    elif word == "save":
        with open(line.rstrip("\n").split(" ", 2)[2], "wb") as file:
            np.save(file, moved)
    elif word == "load":
        moved = np.load(line.rstrip("\n").split(" ", 2)[2])
    print("ok", answer, flush=True)
