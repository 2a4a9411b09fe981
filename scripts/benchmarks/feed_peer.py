"""feed_peer.py: encoders that compute nothing, for feed.sh.

  encoder LOG sums|embeddings NUMBERS   a program by foil-encoder(5) with so many weights
      and constant embeddings; with sums its row sums, by PyTorch, as foil.encode() has
      them.  LOG gets a line for each step: the seconds that it computed
  share RUN LOG       the median and the shortest of the steps of a run, in ms: the step
      without its wait for images, and the same without the time of the encoder
"""
import json
import os
import statistics
import sys
import time

import numpy as np
import torch

import foil
from foil_torch import RowSums

DIM = 128


class Encoder:
    def __init__(self, log, kind, numbers):
        self.log, self.sums, self.numbers = open(log, "w"), kind == "sums", int(numbers)
        self.busy = 0.0

    def answer(self, word, o, line):
        n = {k: int(v) for k, v in o.items() if v.isdigit()}
        if word == "open":
            self.rows = n["rows"]
            print(f"tensor fc.weight parameter {self.numbers}", file=foil.answers)
            return f"dim={DIM} sums={int(self.sums)}"
        if word == "layout":
            memory = np.memmap(os.environ["FOIL_MEMORY"], "u1", "r+")
            self.at = lambda name, kind, *shape: torch.from_numpy(np.frombuffer(
                memory, kind, int(np.prod(shape)), n[name]).reshape(shape))
            self.z = self.at("z", "f4", self.rows, DIM)
            self.dz = self.at("dz", "f4", self.rows, DIM)
            z = torch.randn(self.rows, DIM, generator=torch.Generator().manual_seed(0))
            self.fixed = z + z.roll(self.rows // 2, 0)
        elif word == "forward":
            self.n = n["to"]
            self.z[:self.n] = self.fixed[:self.n]
        elif word == "sums":
            rows = 2 * n["samples"]
            self.of = RowSums(self.fixed[:self.n], n["samples"], o["mask"],
                              self.at("tau", "f8", rows), float(o["tau"]),
                              self.at("group", "i8", rows) if n["groups"] else None)
            self.at("sums", "f8", rows, 6).copy_(self.of.sums)
        elif word == "backward" and n["sums"]:
            self.dz[:self.n] = self.of.gradient(
                self.at("coefficients", "f4", len(self.of.v), 2))
        elif word == "norm":
            return "norm=1 steady=1"
        elif word == "get":
            return "steps=0"
        elif word == "save":
            open(line.rstrip("\n").split(" ", 2)[2], "w").close()
        return ""


def encoder(*words):
    torch.set_num_threads(1)
    self = Encoder(*words)
    for line in sys.stdin:
        began = time.perf_counter()
        word, _, *more = line.split()
        said = self.answer(word, dict(w.split("=", 1) for w in more if "=" in w), line)
        self.busy += time.perf_counter() - began
        print("ok", said, file=foil.answers, flush=True)
        if word == "norm":
            print(self.busy, file=self.log, flush=True)
            self.busy = 0.0


def share(run, log):
    with open(f"{run}/metrics.jsonl") as file:
        steps = [json.loads(line) for line in file]
    with open(log) as file:
        busy = [float(line) for line in file]
    lengths = [1e3 * (b["time"] - a["time"] - b["waited"])
               for a, b in zip(steps, steps[1:])]
    shares = [length - 1e3 * x for length, x in zip(lengths, busy[1:])]
    half = len(lengths) // 4  # the first steps fill memory
    print(*(f"{of(x[half:]):.2f}" for x in (lengths, shares)
            for of in (statistics.median, min)))


{"encoder": encoder, "share": share}[sys.argv[1]](*sys.argv[2:])
