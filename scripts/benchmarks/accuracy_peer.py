"""accuracy_peer.py train WORK RECIPE EPOCHS BATCH THREADS SEED
   accuracy_peer.py features WORK RECIPE EPOCH THREADS

`foil run RECIPE` in PyTorch, on WORK/train.foil by DataLoader and torchvision, bf16
by autocast, a warm-up of an epoch (a tenth of the run, if that is less), then half a
cosine to 0.  RECIPE is

cifar  ResNet-20, the head 256-128-bn, SimCLR at temperature .5, views of 32 pixels,
       SGD at .2 with momentum and weight decay;
fast   ResNet-8 of twice the width, the head 128-64, the decoupled loss at temperature
       .2, views of 16 pixels, features of 32 pixels, Muon at .05 with weight decay.

train prints `EPOCH SECONDS PROCESSOR` after each epoch, with processor seconds of
all processes, and saves its weights in WORK/torch; it continues from the last saved
epoch, if the numbers were the same.  features writes those of
the encoder after EPOCH for train.foil and test.foil to WORK/embedded, with labels.
"""
import math
import os
import sys
import time

import numpy as np
import torch
from torch import nn
from torchvision.models.resnet import BasicBlock, ResNet

import foil
from peer_views import picture, seconds, two_views

mode, work, recipe = sys.argv[1:4]
numbers = [int(x) for x in sys.argv[4:]]
fast = recipe == "fast"
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Images(torch.utils.data.Dataset):
    """Two random views u1 [2,h,w,c] of an image, or all of it; the JPEGs are
    in memory."""

    def __init__(self, name, random):
        data = foil.Dataset(f"{work}/{name}.foil")
        self.labels = data.labels
        self.jpeg = [data[i] for i in range(len(data))]
        self.random = random

    def __len__(self):
        return len(self.jpeg)

    def __getitem__(self, i):
        if self.random:
            return two_views(self.jpeg[i], 16 if fast else 32)
        return np.array(picture(self.jpeg[i]))


def resnet(blocks, width):
    """As torchvision makes ResNets, with three stages of width, 2 and 4 width."""
    net = ResNet(BasicBlock, [blocks, blocks, blocks, 1])
    net.inplanes = width
    net.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False)
    net.bn1 = nn.BatchNorm2d(width)
    net.layer1 = net._make_layer(BasicBlock, width, blocks)
    net.layer2 = net._make_layer(BasicBlock, 2 * width, blocks, 2)
    net.layer3 = net._make_layer(BasicBlock, 4 * width, blocks, 2)
    net.maxpool, net.layer4, net.fc = nn.Identity(), nn.Identity(), nn.Identity()
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_normal_(m.weight, mode="fan_out",
                                    nonlinearity="relu")
    return net.to(memory_format=torch.channels_last)


def encoder():
    return resnet(1, 32) if fast else resnet(3, 16)


def encode(net, images):
    """Of u1 [n,h,w,c]; the permutation makes it channels_last."""
    x = images.permute(0, 3, 1, 2) / 255
    x = (x - torch.tensor(MEAN).view(3, 1, 1)) / \
        torch.tensor(DEVIATION).view(3, 1, 1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return net(x)


def simclr(z):
    """z [2 b,d], the views of an image b rows apart."""
    v = nn.functional.normalize(z)
    s = (v @ v.T / 0.5).fill_diagonal_(-torch.inf)
    return nn.functional.cross_entropy(
        s, torch.arange(len(v)).roll(len(v) // 2))


def decoupled(z):
    """The same without the other view of the image in the denominator."""
    v = nn.functional.normalize(z)
    s = v @ v.T / 0.2
    rows = torch.arange(len(v))
    other = rows.roll(len(v) // 2)
    positive = s[rows, other]
    s.fill_diagonal_(-torch.inf)
    s[rows, other] = -torch.inf
    return (s.logsumexp(1) - positive).mean()


class Muon(torch.optim.Optimizer):
    """Jordan et al. 2024 with the scale of Liu et al. 2025, arXiv:2502.16982: steps
    of matrices and convolutions made orthogonal by five Newton-Schulz steps."""

    def __init__(self, parameters, lr, momentum=0.95, weight_decay=0.0):
        super().__init__(parameters, {"lr": lr, "momentum": momentum,
                                      "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                m.mul_(group["momentum"]).add_(p.grad)
                x = (p.grad + group["momentum"] * m).flatten(1)
                wide = max(x.shape)
                x = self.orthogonal(x.T).T if len(x) > len(x[0]) else \
                    self.orthogonal(x)
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(x.reshape(p.shape), alpha=group["lr"] * 0.2 * wide ** 0.5)

    @staticmethod
    def orthogonal(x):
        x = x / (x.norm() + 1e-7)
        for _ in range(5):
            a = x @ x.T
            x = torch.addmm(x, torch.addmm(a, a, a, beta=-4.775, alpha=2.0315), x,
                            beta=3.4445)
        return x


def optimisers(parameters):
    """Of the recipe, in a list."""
    if not fast:
        return [torch.optim.SGD(parameters, 0.2, 0.9, weight_decay=2e-4)]
    return [Muon([p for p in parameters if p.ndim > 1], 0.05, 0.95, 0.05),
            torch.optim.AdamW([p for p in parameters if p.ndim == 1], 0.05,
                              weight_decay=0)]


def train(epochs, batch, threads, seed):
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    images = Images("train", True)
    net, objective = encoder(), decoupled if fast else simclr
    head = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 64)) if fast \
        else nn.Sequential(nn.Linear(64, 256), nn.BatchNorm1d(256), nn.ReLU(),
                           nn.Linear(256, 128))
    optims = optimisers([*net.parameters(), *head.parameters()])
    loader = torch.utils.data.DataLoader(
        images, batch, shuffle=True, drop_last=True, num_workers=threads)
    every = len(images) // batch
    warm = min(1, epochs / 10) * every
    rates = [torch.optim.lr_scheduler.LambdaLR(optim, lambda t: min(
        (t + 1) / warm, (1 + math.cos(math.pi * max(t - warm, 0) / (
            epochs * every - warm))) / 2)) for optim in optims]
    parts = {"net": net, "head": head}
    for i, pair in enumerate(zip(optims, rates)):
        parts |= zip((f"optim{i}", f"rate{i}"), pair)
    path = f"{work}/torch/last.pt"
    done = []  # a line for each epoch
    if os.path.exists(path):
        last = torch.load(path)
        if last["numbers"] == numbers:
            done = last["done"]
            for name, part in parts.items():
                part.load_state_dict(last[name])
            torch.set_rng_state(last["random"])
    for line in done:
        print(*line, flush=True)
    took = done[-1][1:] if done else (0, 0)
    start = time.monotonic() - took[0], seconds() - took[1]
    for epoch in range(len(done) + 1, epochs + 1):
        for x in loader:
            # not under autocast: head and loss are f32
            loss = objective(head(encode(
                net, x.transpose(0, 1).flatten(0, 1)).float()))
            for optim in optims:
                optim.zero_grad()
            loss.backward()
            for step in (*optims, *rates):
                step.step()
        done.append((epoch, round(time.monotonic() - start[0], 1),
                     round(seconds() - start[1], 1)))
        print(*done[-1], flush=True)
        torch.save(net.state_dict(), f"{work}/torch/{epoch}.pt")
        torch.save({"numbers": numbers, "done": done,
                    "random": torch.get_rng_state(),
                    **{name: part.state_dict() for name, part in parts.items()}},
                   path + ".new")
        os.replace(path + ".new", path)


def features(epoch, threads):
    torch.set_num_threads(threads)
    net = encoder()
    net.load_state_dict(torch.load(f"{work}/torch/{epoch}.pt"))
    net.eval()
    for name in ("train", "test"):
        images = Images(name, False)
        with torch.no_grad():
            x = [encode(net, batch).float() for batch in
                 torch.utils.data.DataLoader(images, 500)]
        np.save(f"{work}/embedded/{name}.npy", torch.cat(x).numpy())
        np.save(f"{work}/embedded/{name}.labels.npy", images.labels)


{"train": train, "features": features}[mode](*numbers)
