#!/usr/bin/python3
"""Batches of all classes, easy samples first: stands in the place of foil-select.
usage: curriculum.py -r RUN -b BATCH -e EPOCHS [-s SEED] [--lag N] DATA

A sample is hard where the embeddings of its two views are far apart; those of
the epoch before the last are taken, so that nobody waits (--lag 0: of the
last).  The trainer keeps them with --keep-features 2.
"""
import numpy as np
import foil

o = foil.options("data", run=str, batch=128, epochs=100, seed=0, lag=1,
                 strategy=..., tau=...)
data = foil.Dataset(o.data)


def curriculum(epoch, features):
    rng = np.random.default_rng([o.seed, epoch])
    hard = np.zeros(len(data))
    if features is not None:
        hard = np.nan_to_num(1 - (features[0] * features[1]).sum(1), nan=1)
    rank = np.empty(len(data))
    for label in np.unique(data.labels):  # the place of a sample in its class
        mine = rng.permutation(np.flatnonzero(data.labels == label))
        mine = mine[np.argsort(hard[mine], kind="stable")]
        rank[mine] = (np.arange(len(mine)) + rng.random()) / len(mine)
    order = np.argsort(rank, kind="stable")
    return np.array_split(order, max(1, len(data) // o.batch))


foil.select(o.run, data, curriculum, o.epochs, lag=o.lag)
