"""foil.objective: losses in this process, compared with formulas in numpy.
usage: test_objective.py SCRATCH-FOLDER, with libfoil in LIBFOIL
"""
import copy
import importlib.util
import os
import pickle
import sys

import numpy as np

import foil
from tap import ok, refuses, run

os.chdir(sys.argv[1])
N, B, D = 30, 5, 6
RNG = np.random.default_rng(1)
IDS = RNG.permutation(N)[:B]
Z = RNG.normal(size=(2 * B, D)).astype("f4")


def cosines(z):
    v = z / np.linalg.norm(z, axis=1, keepdims=True)
    return v @ v.T


def simclr(z, tau):
    s = cosines(z) / tau
    np.fill_diagonal(s, -np.inf)
    partner = (np.arange(2 * B) + B) % (2 * B)
    return np.mean(np.log(np.exp(s).sum(1)) - s[np.arange(2 * B), partner])


def slope(f, z, i, h=1e-5):
    a, b = z.copy(), z.copy()
    a.flat[i] += h
    b.flat[i] -= h
    return (f(a) - f(b)) / (2 * h)


def values():
    z = Z.astype("f8")
    loss = foil.objective("simclr", tau=0.3)
    value, dz = loss(IDS, Z)
    ok(abs(value - simclr(z, 0.3)) < 1e-6, "simclr has the value of its formula")
    ok(all(abs(dz.flat[i] - slope(lambda x: simclr(x, 0.3), z, i)) < 1e-5
           for i in range(0, dz.size, 7)), "dz of simclr is the slope of its formula")
    loss.set(tau=0.6)
    ok(abs(loss(IDS, Z)[0] - simclr(z, 0.6)) < 1e-6, "set() changes a parameter")
    ok(abs(loss.metrics["infonce"] - simclr(z, 0.6)) < 1e-6, "metrics have the last loss")
    ok(len(foil.objectives()) >= 21 and "isogclr" in foil.objectives(),
       "objectives() lists all objectives")


def states():
    a = foil.objective("isogclr", n=N, rho=0.3)
    before = a(IDS, Z, look=True)[0]
    ok(a(IDS, Z)[0] == before, "look=True does not change the state")
    tau = a.state["tau"]
    ok(tau.shape == (N,) and (np.sort(np.flatnonzero(a.state["seen"])) ==
                              np.sort(IDS)).all(),
       "a step changes the state of its samples")
    a.save(".")
    b = foil.objective("isogclr", n=N, rho=0.3)
    b.load(".")
    x, y = a(IDS, Z), b(IDS, Z)
    ok(x[0] == y[0] and (x[1] == y[1]).all() and
       all((a.state[k] == b.state[k]).all() for k in a.state),
       "load() restores a saved state")
    c = foil.objective("sogclr_bimodal", n=N, captions=3)
    c(IDS, Z, captions=np.arange(B) % 3)
    ok({len(x) for x in c.state.values()} == {N, 3 * N},
       "captions have their own state")
    ok(refuses(ValueError, "captions", lambda: c(
        IDS, Z, captions=np.full(B, 3))), "a caption number above the last is refused")


def scalars():
    loss = foil.objective("clip")
    loss(IDS, Z)
    (name, (x, moves)), h = next(iter(loss.scalars.items())), 1e-4
    ends = []
    for at in x - h, x + h:
        loss.set(**{name: at})
        ends.append(loss(IDS, Z)[0])
    ok(abs((ends[1] - ends[0]) / (2 * h) - moves) < 1e-3 * abs(moves) + 1e-4,
       "a learnt scalar has the slope of the loss")


def copies():
    a = foil.objective("isogclr", n=N, rho=0.3)
    a(IDS, Z)
    a.set(rho=0.5)
    for how, b in (("copy.copy", copy.copy(a)), ("copy.deepcopy", copy.deepcopy(a)),
                   ("pickle", pickle.loads(pickle.dumps(a)))):
        before = a.state
        x, y = a(IDS, Z, look=True), b(IDS, Z)
        ok(x[0] == y[0] and (x[1] == y[1]).all(), f"{how} makes the same objective")
        ok(all((a.state[k] == before[k]).all() for k in before),
           f"a step of a {how} does not change the original")
    c = foil.objective("clip")
    c.set(**{name: 1.5 for name in c.scalars})
    ok(copy.deepcopy(c).scalars == c.scalars, "a copy has the learnt scalars")


def others():
    weights = np.zeros((2 * B, 2 * B), "f4")
    weights[:B, B:] = weights[B:, :B] = (1 - np.eye(B)) / (B - 1)
    value, dz = foil.objective("emc2", n=N)(IDS, Z, weights=weights)
    ok(np.isfinite(value) and dz.shape == Z.shape, "emc2 takes the caller's weights")
    more = np.concatenate([Z, Z[:3] + 1])
    value, dz = foil.objective("simclr")(IDS, more, extra=3, constant=3)
    ok(dz.shape == Z.shape, "constant rows have no gradient")


def tensors():
    if not importlib.util.find_spec("torch"):
        return print("# no python3-torch: no tensors")
    import torch
    loss, z = foil.objective("simclr", tau=0.3), torch.tensor(Z, requires_grad=True)
    value = 2 * loss.tensor(IDS, z) + (z ** 2).sum()
    value.backward()
    ok(abs(value.item() - 2 * simclr(Z, 0.3) - (Z ** 2).sum()) < 1e-3,
       "tensor() returns a value that can be added to others")
    dz = loss(IDS, Z)[1]
    ok(np.abs(z.grad.numpy() - 2 * dz - 2 * Z).max() < 1e-5,
       "backward() adds the gradient of tensor()")
    half = torch.tensor(Z).bfloat16().requires_grad_()
    ids = torch.from_numpy(IDS)
    loss.tensor(ids, half).backward()
    ok(half.grad.dtype == torch.bfloat16 and
       np.abs(half.grad.float().numpy() - dz).max() < 0.02 and
       loss(ids, half)[1].dtype == torch.bfloat16, "embeddings can be bfloat16")
    more = torch.tensor(np.concatenate([Z, Z[:3] + 1]), requires_grad=True)
    loss.tensor(IDS, more, extra=3, constant=3).backward()
    ok(more.grad[:-3].any() and not more.grad[-3:].any(),
       "constant rows have a gradient of zero")


def mistakes():
    loss = foil.objective("sogclr", n=N)
    for what, error, words, call in (
            ("an unknown objective", ValueError, "there are",
             lambda: foil.objective("nothing")),
            ("an unknown parameter", ValueError, "'rh'",
             lambda: foil.objective("isogclr", n=N, rh=1)),
            ("an objective without n", ValueError, "n must be at least",
             lambda: foil.objective("sogclr")),
            ("an id above n", ValueError, "ids", lambda: loss(IDS + N, Z)),
            ("z with another number of rows", ValueError, "want z",
             lambda: loss(IDS, Z[:-1])),
            ("z that is not finite", FloatingPointError, "not finite",
             lambda: loss(IDS, Z * np.nan))):
        ok(refuses(error, words, call), what + " is refused")
    ok(not any(x.any() for x in loss.state.values()),
       "a refused call does not change the state")


run(values, states, scalars, copies, others, tensors, mistakes)
