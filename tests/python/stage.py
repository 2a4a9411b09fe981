"""A stage of each kind on foil.py, small enough for tests: no network learns.

usage: stage.py train RUN [save=N] [nap=X] [keep=N] [ask=1] [resume=1]
       stage.py select RUN DATA [batch=N] [epochs=N] [lag=N] [lease=X]
       stage.py augment RUN DATA [size=N] [recipe=TEXT] [nap=X] [bad=ID]
       stage.py negatives RUN [sampler=TEXT] [kept=1]

The trainer has the encoder "linear", whose weights stay as they are, and where
there are captions the mean of a vector for each token; with ask=1 it says how
much weight negatives from outside had at most.  The sampler weighs by the softmax; with kept=1 it counts visits in a table.  Each
edge may be given as edge=ENDPOINT, and keys=FILE allow=DIR.
"""
import sys
import time

import numpy as np

import foil

words = dict(w.split("=", 1) for w in sys.argv[2:] if "=" in w)
operand = [w for w in sys.argv[2:] if "=" not in w]
run = operand[0]
edges = {e: words[e] for e in foil.EDGES if e in words}
if edges:
    run = {"run": run, **edges}
keys = {k: words[k] for k in ("keys", "allow") if k in words}
get = lambda name, usual: type(usual)(words.get(name, usual))


def train():
    rng, most = np.random.default_rng(0), 0
    trainer = foil.Trainer(
        run, keep_features=get("keep", 0), deadline=30,
        negatives=get("ask", 0) == 1, resume=get("resume", 0) == 1,
        save_every=get("save", 10), **keys, save=lambda: dict(
            model=model, size=batch.views.shape[2], head=last and last.head,
            encoder=None if last else {"arch": "linear", "hidden": 12},
            optim=last and last.optim, config=last and last.config))
    last = trainer.checkpoint
    model = last.model if last else {}
    for batch in trainer:
        x = batch.images().reshape(len(batch.images()), -1) / 255 - 0.5
        if not model:
            model = {  # f4, as a checkpoint gives it back
                "fc.weight": rng.normal(size=(12, x.shape[1])).astype("f4"),
                "fc.bias": np.zeros(12, "f4")}
        z = x @ model["fc.weight"].T + model["fc.bias"]
        if batch.tokens is not None:
            words = np.random.default_rng(1).normal(size=(65536, 12))
            z = np.concatenate([z, [words[row[:n]].mean(0) for row, n in
                                    zip(batch.tokens, batch.lengths)]])
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        if trainer.client:
            w = batch.weights(z, beta=2.0)
            assert w.min() >= 0 and abs(w.sum(1) - 1).max() < 1e-3
            n = len(z) + (0 if batch.outside is None else len(batch.outside))
            assert w.shape[1] == n
            most = max(most, w[:, len(z):].sum(1).max(initial=0))
        time.sleep(get("nap", 0.0))
        batch.done(z=None if batch.tokens is not None else z, loss=0.0)
    print("steps", trainer.total)
    if most:
        print("outside", most)


def select():
    data, seed = foil.Dataset(operand[1]), get("seed", 0)

    def plan(epoch, features):
        order = np.random.default_rng([seed, epoch]).permutation(len(data))
        return np.array_split(order, len(data) // get("batch", 8))
    foil.select(run, data, plan, get("epochs", 4), lease=get("lease", 10.0),
                lag=int(words["lag"]) if "lag" in words else None, **keys)


def augment():
    side, data = get("size", 8), foil.Dataset(operand[1])
    bad = data[int(words["bad"])] if "bad" in words else None

    def view(jpeg, rng):
        time.sleep(get("nap", 0.0))
        if jpeg == bad:
            raise OSError("pretended")
        base = np.random.default_rng(list(jpeg[-99:-2]))
        image = base.integers(0, 192, (side, side, 3), "u1")
        return image + rng.integers(0, 64, image.shape, "u1")
    foil.augment(run, data, view, recipe=words.get("recipe"), max_bad=0.1,
                 room=get("room", 2), **keys)


def negatives():
    def softmax(pairs):
        s = pairs.beta * pairs.similarities()
        w = np.exp(s - s.max(1, keepdims=True))
        w /= w.sum(1, keepdims=True)
        if not get("kept", 0):
            return w
        visits = pairs.tables.setdefault("visits",
                                         np.zeros((pairs.size, 2), "u1"))
        visits[pairs.ids, 0] += 1
        return w, {"most": visits[:, 0].max()}, {"visits": pairs.ids}
    foil.negatives(run, softmax, sampler=words.get("sampler"),
                   keeps=["visits"] if get("kept", 0) else [], **keys)


{f.__name__: f for f in (train, select, augment, negatives)}[sys.argv[1]]()
