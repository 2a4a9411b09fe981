"""An encoder by foil-encoder(5) in NumPy: a linear layer on pixels less their running
mean, and momentum.  Arguments: sums: it computes row sums; late: it updates before it
answers the norm; nan: the fifth gradient is not finite.  At its end it prints how many
forwards were undone."""
import os
import sys

import numpy as np

DIM, CAN, LATE, NAN = 16, *(x in sys.argv for x in ("sums", "late", "nan"))
at, step, weights = {}, np.zeros(()), np.zeros(())
mean, before, gradients, undone, early = np.zeros(1, "f4"), np.zeros(1, "f4"), 0, 0, None


def array(name, kind, *shape):
    return np.frombuffer(memory, kind, int(np.prod(shape)), at[name]).reshape(shape)


def softmax(s, out, tau):
    x = np.where(out, -np.inf, s) / tau
    most = x.max(1, keepdims=True)
    p = np.exp(x - most)
    total = p.sum(1, keepdims=True)
    return p / total, (most + np.log(total))[:, 0]


def row_sums(o):
    global p, v, length
    b = int(o["samples"])
    n, row = 2 * b, np.arange(2 * b)
    z, group = array("z", "f4", n, DIM).astype("f8"), array("group", "i8", n)
    length = np.linalg.norm(z, axis=1, keepdims=True)
    v = z / length
    s, itself = v @ v.T, np.eye(n, dtype=bool)
    equal = row[:, None] % b == row % b
    same_view = row[:, None] // b == row // b
    out = {"batch": itself, "negatives": equal, "cross": same_view,
           "cross-negatives": same_view | equal}[o["mask"]]
    p, log_z = softmax(s, out, array("tau", "f8", n)[:, None])
    same = (group[:, None] == group) & (group >= 0) & ~equal & (o["groups"] == "1")
    array("sums", "f8", n, 6)[:] = np.stack([
        log_z, (p * s).sum(1), s[row, (row + b) % n], softmax(s, itself, float(o["tau"]))[1],
        (p * same).sum(1), same.sum(1)], 1)


def gradient_of_rows():
    n = len(v)
    scale, pull = array("coefficients", "f4", n, 2).T.astype("f8")
    w = p * scale[:, None]
    w[np.arange(n), (np.arange(n) + n // 2) % n] -= pull
    dv = (w + w.T) @ v
    return (dv - (dv * v).sum(1, keepdims=True) * v) / length


def answer(word, o, path):
    global rows, size, weights, step, memory, x, grad, mean, before, gradients, undone, early
    if word == "open":
        rows = int(o["rows"])
        size = int(o["height"]) * int(o["width"]) * int(o["channels"])
        weights = np.random.default_rng(0).normal(0, .1, (DIM, size)).astype("f4")
        step = np.zeros_like(weights)
        print(f"tensor fc.weight parameter {DIM}x{size}\ntensor mean statistic 1")
        return f"dim={DIM} engine=numpy sums={int(CAN)} late={int(LATE)}"
    if word == "layout":
        at.update((k, int(a)) for k, a in o.items())
        memory = np.memmap(os.environ["FOIL_MEMORY"], "u1", "r+")
    elif word == "forward":
        n = int(o["to"])
        x = array("input" + o["slot"], "u1", n, size).astype("f4") / 255 - .5
        before = mean
        if o["mode"] == "train":
            mean = np.float32(.9) * mean + np.float32(.1) * x.mean()
        x -= mean
        array("z", "f4", n, DIM)[:] = x @ weights.T
    elif word == "sums":
        row_sums(o)
    elif word == "backward":
        grad = np.zeros_like(weights)
        dz = gradient_of_rows() if o["sums"] == "1" else array("dz", "f4", len(x), DIM)
        grad[:] = dz.T @ x
        gradients += 1
        if NAN and gradients == 5:
            grad[0] = np.nan
    elif word == "norm":
        norm, early = np.linalg.norm(grad) if early is None else early, None
        return f"norm={norm!r} steady=1"
    elif word == "undo":
        mean, undone = before, undone + 1
    elif word == "update":
        if o.get("finite"):
            early = np.linalg.norm(grad)
            if not np.isfinite(early):
                mean = before
                return ""
        step = np.float32(.9) * step + grad
        weights -= np.float32(o["rate"]) * step
    elif word == "get":
        array("parameters", "f4", DIM, size)[:] = weights
        array("statistics", "f4", 1)[:] = mean
    elif word == "put":
        weights = array("parameters", "f4", DIM, size).copy()
        mean = array("statistics", "f4", 1).copy()
    elif word == "save":
        step.tofile(path)
    elif word == "load":
        step = np.fromfile(path, "f4").reshape(weights.shape)
    return ""


for line in sys.stdin:
    word, _, *more = line.split()
    print("ok", answer(word, dict(w.split("=", 1) for w in more if "=" in w),
                       line.rstrip("\n").split(" ", 2)[-1]), flush=True)
print(undone, "undone", file=sys.stderr)
