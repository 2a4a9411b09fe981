"""confusion.py make | many | check SCRIPT LINE OPTION | probe SCRIPT LINE | cosines SCRIPT
VIEWS: make writes features of few classes, many of 1001.  The others exit with 0 if the
confusion matrix of foil-eval knn is that of all distances, if that of foil-eval probe has
its accuracy, or if the histogram of foil-eval geometry is that of all cosines."""
import json
import sys

import numpy as np

K, CLASSES = 3, 5


def nearest(train, test, option):
    """Distances of all pairs."""
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
        out, *others = map(json.loads, file)
    shares = confuse(option)
    same = np.abs(np.array([row.split() for row in rows], "f8") - shares).max() < 1e-3
    got = np.array(list(out["by_class"].values()))
    right = np.abs(got - np.diag(shares)).max() < 1e-9
    return same and right and out["k"] == K and not any("by_class" in x for x in others)


def check_probe(script, line):
    """The rows sum to 1, and the diagonal gives the accuracy and each class's share."""
    with open(script, encoding="ascii") as file:
        rows = file.read().split("$shares << END\n")[1].split("END")[0].splitlines()
    with open(line, encoding="ascii") as file:
        out = json.loads(file.read())
    shares = np.array([row.split() for row in rows], "f8")
    size = np.bincount(np.load("test.labels.npy"), minlength=CLASSES)
    right = np.array(list(out["by_class"].values()))
    return (np.abs(shares.sum(1) - 1).max() < 1e-3 and np.abs(right - np.diag(shares)).max() < 1e-3
            and abs(right @ size / size.sum() - out["accuracy"]) < 1e-9
            and right.max() > right.min())


def check_cosines(script, views):
    with open(script, encoding="ascii") as file:
        rows = file.read().split("$cosines << END\n")[1].split("END")[0].splitlines()
    got = np.array([row.split()[1:3] for row in rows], "i8")
    x, y = (np.load(f"{name}.npy").astype("f8") for name in ("test", "view"))
    v, w = (a / np.linalg.norm(a, axis=1, keepdims=True) for a in (x, y))
    cosines = v @ (w if views == "2" else v).T
    same = np.eye(len(v), dtype=bool)
    pairs = ~same if views == "2" else np.triu(np.ones_like(same), 1)
    want = [np.histogram(c, 100, (-1, 1))[0] for c in
            (cosines[same] if views == "2" else [], cosines[pairs])]
    return np.abs(got - np.array(want).T).sum() <= 4


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
    np.save("view.npy", np.load("test.npy") + rng.normal(size=(80, 4)).astype("f4") / 4)
elif sys.argv[1] == "cosines":
    sys.exit(not check_cosines(*sys.argv[2:]))
elif sys.argv[1] == "probe":
    sys.exit(not check_probe(*sys.argv[2:]))
elif sys.argv[1] == "many":
    np.save("many.npy", np.random.default_rng(1).normal(size=(1001, 2)).astype("f4"))
    np.save("many.labels.npy", np.arange(1001))
else:
    sys.exit(not check(*sys.argv[2:]))
