#!/usr/bin/python3
"""The 8 hardest negatives, with equal weights.  foil-negatives --weigh-command 'python3 weigh.py'"""
import os, sys
import numpy as np

for line in sys.stdin:
    o = dict(word.split("=") for word in line.split()[1:])
    rows, columns, dims, z, owner = (
        int(o[k]) for k in ("rows", "columns", "dims", "z", "owner"))
    memory = np.memmap(os.environ["FOIL_MEMORY"], "u1", "r+")
    weights = memory[:rows * columns * 4].view("f4").reshape(rows, columns)
    v = memory[z:z + columns * dims * 4].view("f4").reshape(columns, dims)
    owner = memory[owner:owner + columns * 8].view("i8")
    s = v[:rows] @ v.T
    s[owner[:rows, None] == owner] = -np.inf
    top = np.argpartition(-s, 8, axis=1)[:, :8]
    np.put_along_axis(weights, top, 1 / 8, axis=1)  # the others are 0
    print(f"ok hardest={s.max(1).mean()}", flush=True)
