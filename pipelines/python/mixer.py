#!/usr/bin/python3
"""Flipped crops; view 0 is mixed with another sample's; methods/imix.py has the loss.
usage: foil-augment --view-command 'python3 mixer.py' ... DATA"""
import numpy as np

import foil


def view(image, size, rng):
    side = int(min(image.shape[:2]) * rng.uniform(0.5, 1))
    y, x = (rng.integers(n - side + 1) for n in image.shape[:2])
    pick = np.arange(size) * side // size
    return image[y + pick[:, None], x + pick[None]][:, ::rng.choice([-1, 1])]


def mix(views, batch, rng):
    """The share of its own sample in each row, and the row of the other one."""
    own, partner, n = np.ones(len(views)), np.arange(len(views)), batch.samples
    own[:n], partner[:n] = rng.beta(1, 1, n), rng.permutation(n)
    share = own[:, None, None, None]
    views[:] = (share * views + (1 - share) * views[partner]).round()
    return np.stack([own, partner], 1)


foil.make_views(view, mix)
