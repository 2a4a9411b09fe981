"""accuracy_peer.py train WORK EPOCHS BATCH THREADS SEED
   accuracy_peer.py features WORK EPOCH THREADS

`foil run cifar` in PyTorch, on WORK/train.foil by DataLoader and torchvision:
ResNet-20 with the head 256-128-bn, SimCLR at temperature .5, bf16 by autocast,
SGD at .2 with momentum and weight decay, a warm-up of an epoch (a tenth of the
run, if that is less), then half a cosine to 0.

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

mode, work = sys.argv[1:3]
numbers = [int(x) for x in sys.argv[3:]]
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
            return two_views(self.jpeg[i])
        return np.array(picture(self.jpeg[i]))


def resnet20():
    """As torchvision makes ResNets, with three stages of 16, 32, 64 channels."""
    net = ResNet(BasicBlock, [3, 3, 3, 1])
    net.inplanes = 16
    net.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
    net.bn1 = nn.BatchNorm2d(16)
    net.layer1 = net._make_layer(BasicBlock, 16, 3)
    net.layer2 = net._make_layer(BasicBlock, 32, 3, 2)
    net.layer3 = net._make_layer(BasicBlock, 64, 3, 2)
    net.maxpool, net.layer4, net.fc = nn.Identity(), nn.Identity(), nn.Identity()
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_normal_(m.weight, mode="fan_out",
                                    nonlinearity="relu")
    return net.to(memory_format=torch.channels_last)


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


def train(epochs, batch, threads, seed):
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    images = Images("train", True)
    net = resnet20()
    head = nn.Sequential(nn.Linear(64, 256), nn.BatchNorm1d(256), nn.ReLU(),
                         nn.Linear(256, 128))
    optim = torch.optim.SGD([*net.parameters(), *head.parameters()], 0.2, 0.9,
                            weight_decay=2e-4)
    loader = torch.utils.data.DataLoader(
        images, batch, shuffle=True, drop_last=True, num_workers=threads)
    every = len(images) // batch
    warm = min(1, epochs / 10) * every
    rate = torch.optim.lr_scheduler.LambdaLR(optim, lambda t: min(
        (t + 1) / warm, (1 + math.cos(math.pi * max(t - warm, 0) / (
            epochs * every - warm))) / 2))
    parts = {"net": net, "head": head, "optim": optim, "rate": rate}
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
            loss = simclr(head(encode(
                net, x.transpose(0, 1).flatten(0, 1)).float()))
            optim.zero_grad()
            loss.backward()
            optim.step()
            rate.step()
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
    net = resnet20()
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
