#!/usr/bin/python3
"""Random crops and flips.  foil-augment --view-command 'python3 view.py'"""
import os, sys
import numpy as np

for line in sys.stdin:
    o = {k: int(v) for k, v in (word.split("=") for word in line.split()[1:])}
    rows, size = o["rows"], o["size"]
    memory = np.memmap(os.environ["FOIL_MEMORY"], "u1", "r+")
    views = memory[:rows * size * size * 3].reshape(rows, size, size, 3)
    made_of = memory[o["table"]:][:rows * 40].view("i8").reshape(rows, 5)
    for view, (at, height, width, sample, seed) in zip(views, made_of):
        rng = np.random.default_rng(seed)
        image = memory[at:at + height * width * 3].reshape(height, width, 3)
        side = int(min(height, width) * rng.uniform(0.5, 1))
        y, x = rng.integers(height - side + 1), rng.integers(width - side + 1)
        pick = np.arange(size) * side // size
        view[:] = image[y + pick[:, None], x + pick[None]][:, ::rng.choice([-1, 1])]
    print("ok", flush=True)
