#!/usr/bin/python3
"""The k hardest negatives of each row, alike: stands in the place of
foil-negatives.  usage: sampler.py -r RUN [-k K]"""
import numpy as np

import foil

o = foil.options(run=str, k=8)


def hardest(pairs):
    s = pairs.similarities()
    top = np.argpartition(-s, o.k, axis=1)[:, :o.k]
    w = np.zeros_like(s)
    np.put_along_axis(w, top, 1 / o.k, axis=1)
    return w, {"hardest": s.max(1).mean()}


foil.negatives(o.run, hardest)
