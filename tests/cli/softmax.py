#!/usr/bin/python3
"""Weighs negatives by their softmax, so that emc2 becomes dcl, for tests.
usage: foil-negatives --weigh-command softmax.py"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "pipelines/python"))
import foil


def softmax(pairs):
    s = pairs.beta * pairs.similarities()
    w = np.exp(s - s.max(axis=1, keepdims=True))
    return w / w.sum(axis=1, keepdims=True)


foil.weigh_negatives(softmax)
