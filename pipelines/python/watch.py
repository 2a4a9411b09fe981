#!/usr/bin/python3
"""Accuracy of the nearest neighbour during a run, by the features that its
trainer publishes; a line of JSON each epoch.  usage: watch.py RUN DATA"""
import json
import sys

import numpy as np

import foil

run, data = sys.argv[1], foil.Dataset(sys.argv[2])
z, known = None, np.zeros(len(data), bool)
for kind, head, tensors in foil.events(run, "features", "event"):
    if kind == "features":
        ids, rows = tensors["ids"], tensors["z"][0]
        if z is None:
            z = np.zeros((len(data), rows.shape[1]), "f4")
        z[ids], known[ids] = rows, True
    elif head["what"] == "epoch" and known.any():
        some = np.flatnonzero(known)[:2000]
        s = z[some] @ z[some].T
        np.fill_diagonal(s, -1)
        same = data.labels[some] == data.labels[some][s.argmax(1)]
        print(json.dumps({"epoch": head["epoch"], "samples": len(some),
                          "knn1": round(float(same.mean()), 4)}), flush=True)
