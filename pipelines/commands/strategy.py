#!/usr/bin/python3
"""Easy samples first.  foil-select --strategy-command 'python3 strategy.py'

A sample is easy if the features of its two views are alike.
"""
import os, sys
import numpy as np

for line in sys.stdin:
    o = {k: int(v) for k, v in (word.split("=") for word in line.split()[1:])}
    order = np.random.default_rng([o["seed"], o["epoch"]]).permutation(o["samples"])
    if o["dims"]:
        u, v = np.load(os.environ["FOIL_MEMORY"], mmap_mode="r")
        alike = np.nan_to_num((u * v).sum(1), nan=-1)
        order = order[np.argsort(-alike[order], kind="stable")]
    for batch in np.array_split(order, o["batches"]):
        print(*batch)
    print("ok", flush=True)
