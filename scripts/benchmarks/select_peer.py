#!/usr/bin/env python3
"""select_peer.py: spectral batch selection with scikit-learn, SciPy.

select_peer.py make DIR N CLASSES   u.npy, v.npy [N,128] of unit rows around
                                    CLASSES Gaussian centres (0: none)
select_peer.py plan DIR BATCH TAU   seconds for one block of all N, mean batch
                                    loss; leaves cost.npy, distances from the
                                    centres
select_peer.py assign DIR BATCH     seconds of the assignment, its total cost
"""
import sys
import time
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.manifold import spectral_embedding


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def make(folder, n, classes, d=128):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, d))
    if classes:
        centre = rng.normal(size=(classes, d))
        x = centre[rng.integers(classes, size=n)] + .7 * x
    for name in 'uv':
        view = unit(x + .3 * rng.normal(size=(n, d)))
        np.save(f'{folder}/{name}.npy', view.astype('f4'))


def affinity(u, v, tau, batch):
    z = u @ v.T / tau
    own = np.diag(z)[:, None] - np.log(batch - 1)
    a = np.logaddexp(0, z - own) + np.logaddexp(0, z.T - own)
    return a + a.T


def match(cost, batch):
    row, column = linear_sum_assignment(np.repeat(cost, batch, axis=1))
    return column[np.argsort(row)] // batch


def plan(u, v, tau, batch):
    k = len(u) // batch
    weight = np.exp(np.minimum(affinity(u, v, tau, batch), 60))
    rows = spectral_embedding(weight, n_components=k, eigen_solver='arpack',
                              drop_first=False)
    centre = KMeans(k, n_init=10).fit(rows).cluster_centers_
    cost = cdist(rows, centre)
    return match(cost, batch), cost


def mean_loss(u, v, tau, label):
    total = []
    for c in np.unique(label):
        z = u[label == c] @ v[label == c].T / tau
        for s in z, z.T:
            top = s.max(1)
            lse = np.log(np.exp(s - top[:, None]).sum(1)) + top
            total.append((lse - np.diag(s)).mean())
    return 2 * np.mean(total)


def timed(f, times=3):
    """The median of some, after one that is not counted."""
    seconds = []
    for _ in range(times + 1):
        start = time.perf_counter()
        result = f()
        seconds.append(time.perf_counter() - start)
    return np.median(seconds[1:]), result


def main():
    warnings.filterwarnings('ignore')
    what, folder, *rest = sys.argv[1:]
    if what == 'make':
        make(folder, *map(int, rest))
        return
    batch = int(rest[0])
    if what == 'plan':
        tau = float(rest[1])
        u, v = (np.load(f'{folder}/{x}.npy').astype('f8') for x in 'uv')
        seconds, (label, cost) = timed(lambda: plan(u, v, tau, batch))
        np.save(f'{folder}/cost.npy', cost.astype('f4'))
        print(f'{seconds:.6f} {mean_loss(u, v, tau, label):.6f}')
    else:
        cost = np.load(f'{folder}/cost.npy').astype('f8')
        seconds, label = timed(lambda: match(cost, batch))
        print(f'{seconds:.6f} {cost[np.arange(len(cost)), label].sum():.9g}')


main()
