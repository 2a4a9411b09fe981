#!/usr/bin/python3
"""The k hardest negatives of each row, with equal weights.
usage: foil-negatives --weigh-command 'python3 sampler.py K'"""
import sys

import numpy as np

import foil

k = int(sys.argv[1])


def hardest(pairs):
    s = pairs.similarities()
    top = np.argpartition(-s, k, axis=1)[:, :k]
    w = np.zeros_like(s)
    np.put_along_axis(w, top, 1 / k, axis=1)
    return w, {"hardest": s.max(1).mean()}


foil.weigh_negatives(hardest)
