#!/usr/bin/python3
"""Batches of all classes, easy samples first.
usage: foil-select --strategy-command 'python3 curriculum.py DATA' ... DATA

A sample is hard if the embeddings of its two views are far apart.  The
trainer stores them with --keep-features 2.
"""
import sys

import numpy as np

import foil

labels = foil.Dataset(sys.argv[1]).labels


def curriculum(o):
    rng = np.random.default_rng([o.seed, o.epoch])
    hard = np.zeros(o.samples)
    if o.features is not None:
        hard = np.nan_to_num(1 - (o.features[0] * o.features[1]).sum(1), nan=1)
    rank = np.empty(o.samples)
    for label in np.unique(labels):  # the rank of a sample in its class
        mine = rng.permutation(np.flatnonzero(labels == label))
        mine = mine[np.argsort(hard[mine], kind="stable")]
        rank[mine] = (np.arange(len(mine)) + rng.random()) / len(mine)
    return np.argsort(rank, kind="stable")


foil.plan_batches(curriculum)
