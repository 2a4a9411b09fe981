"""confusion.py make | many | check SCRIPT LINE OPTION: features of few classes, and
whether the confusion matrix of foil-eval knn is that of all distances."""
import json
import sys

import numpy as np

K, CLASSES = 3, 5


def nearest(train, test, option):
    """Distances of all pairs, less is nearer."""
    if option == "--metric euclidean":
        return ((test[:, None, :] - train[None, :, :]) ** 2).sum(-1)
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (train, test)]
    return -unit[1] @ unit[0].T


def confuse(option):
    train, labels = (np.load(f"train{x}.npy") for x in ("", ".labels"))
    test, want = (train, labels) if option == "alone" else \
        (np.load(f"test{x}.npy") for x in ("", ".labels"))
    far = nearest(train.astype("f8"), test.astype("f8"), option)
    if option == "alone":
        np.fill_diagonal(far, np.inf)
    counts = np.zeros((CLASSES, CLASSES))
    for i, row in enumerate(far):
        votes = np.bincount(labels[np.argsort(row, kind="stable")[:K]], minlength=CLASSES)
        counts[want[i], votes.argmax()] += 1
    return counts / np.maximum(counts.sum(1, keepdims=True), 1)


def check(script, line, option):
    with open(script, encoding="ascii") as file:
        rows = file.read().split("$shares << END\n")[1].split("END")[0].splitlines()
    with open(line, encoding="ascii") as file:
        told, *others = map(json.loads, file)
    shares = confuse(option)
    same = np.abs(np.array([row.split() for row in rows], "f8") - shares).max() < 1e-3
    right = np.abs(np.array(list(told["by_class"].values())) - np.diag(shares)).max() < 1e-9
    return same and right and told["k"] == K and not any("by_class" in x for x in others)


if sys.argv[1] == "make":
    rng = np.random.default_rng(3)
    middle = rng.normal(size=(CLASSES, 4))
    for name, n in (("train", 120), ("test", 80)):
        labels = rng.integers(CLASSES, size=n)
        labels[:CLASSES] = range(CLASSES)
        np.save(f"{name}.npy", (middle[labels] + rng.normal(size=(n, 4))).astype("f4"))
        np.save(f"{name}.labels.npy", labels)
        with open(f"{name}.classes", "w", encoding="ascii") as out:
            out.write('cat\na "b"\n$x\nd\ne\n')
elif sys.argv[1] == "many":
    np.save("many.npy", np.random.default_rng(1).normal(size=(1001, 2)).astype("f4"))
    np.save("many.labels.npy", np.arange(1001))
else:
    sys.exit(not check(*sys.argv[2:]))
