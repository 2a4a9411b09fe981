"""encoder_peer.py: encoders for encoder.sh.

  gpu FILE MILLISECONDS              a program by foil-encoder(5) that pretends to be a
      GPU: it sleeps that long in a step and computes nothing.  FILE gets a line: the
      medians, in milliseconds, of what it waits for in a step: for requests, and the
      pixels that belong to them; for the gradient of the embeddings
  encode STEM                        a ResNet-18 by foil.encode(); STEM is that of
      foil-train: small, as in pipelines/python/encoder.py, or imagenet, torchvision's
  plain STEM TRAIN TEST EPOCHS       the same in an ordinary loop on DataLoader; prints
      processor microseconds an image and the accuracy of the nearest neighbour
"""
import os
import statistics
import sys
import time

import numpy as np

DIM, BATCH, TAU = 128, 128, 0.1


def ask(line, state):
    """The answer to a request."""
    word, _, *words = line.split()
    o = dict(w.split("=", 1) for w in words if "=" in w)
    n = {k: int(v) for k, v in o.items() if v.isdigit()}
    if word == "open":
        state["rows"] = n["rows"]
        print(f"tensor fc.weight parameter {DIM}x1")
        return f"dim={DIM}"
    if word == "layout":
        memory = np.memmap(os.environ["FOIL_MEMORY"], "u1", "r+")
        rng = np.random.default_rng(1)
        state["z"] = memory[n["z"]:n["z"] + 4 * DIM * state["rows"]].view("f4")
        state["z"][:] = rng.normal(size=state["z"].shape)
    elif word == "backward":
        time.sleep(state["sleep"])
    elif word == "norm":
        return "norm=1 steady=1"
    elif word == "get":
        return "steps=0"
    elif word == "save":
        open(line.rstrip("\n").split(" ", 2)[2], "w").close()
    return ""


def pretend(path, milliseconds):
    state = {"sleep": float(milliseconds) / 1e3}
    waits, loss = [0.0], []
    answered = time.perf_counter()
    for line in sys.stdin:
        word, waited = line.split(" ", 1)[0], time.perf_counter() - answered
        if word == "backward":
            loss.append(waited)
        else:
            waits[-1] += waited
        print("ok", ask(line, state), flush=True)
        if word == "forward":
            waits.append(0.0)
        answered = time.perf_counter()
    with open(path, "w") as file:
        print(*(f"{1e3 * statistics.median(x[4:-1]):.3f}" for x in (waits, loss)),
              file=file)


def resnet18(stem):
    """The network and its head."""
    import torch
    import torchvision
    nn = torch.nn
    torch.set_num_threads(1)
    torch.manual_seed(0)
    net = torchvision.models.resnet18()
    if stem == "small":
        net.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        net.maxpool = nn.Identity()
    net.fc = nn.Identity()
    return net, nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 128))


def encode(stem):
    import foil
    foil.encode(*resnet18(stem))


def plain(stem, train, test, epochs):
    import torch

    from peer_views import (neighbour_accuracy, scale, seconds, simclr_step,
                            view_batches)
    net, head = resnet18(stem)
    both = torch.nn.Sequential(net, head)
    optim = torch.optim.SGD(both.parameters(), 0.1, 0.9, weight_decay=1e-4)

    images, used = 0, seconds()
    for x in view_batches(train, BATCH, int(epochs)):
        simclr_step(both(scale(x)), TAU, optim)
        images += len(x) // 2
    used = seconds() - used
    print(f"{1e6 * used / images:.0f} "
          f"{neighbour_accuracy(net, train, test, 100):.4f}")


{"gpu": pretend, "encode": encode, "plain": plain}[sys.argv[1]](*sys.argv[2:])
