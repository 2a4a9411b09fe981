#!/usr/bin/python3
"""foil-augment as the data loader of an ordinary PyTorch loop: SimCLR.
usage: loader.py [--epochs N] [--batch N] [--size N] DATA"""
import argparse

import torch
import torchvision

import foil

parser = argparse.ArgumentParser()
parser.add_argument("data")
for name, usual in ("--epochs", 10), ("--batch", 128), ("--size", 32):
    parser.add_argument(name, type=int, default=usual)
o = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"
net = torchvision.models.resnet18(num_classes=128).to(device)
optim = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
for batch in foil.views(o.data, batch=o.batch, epochs=o.epochs, size=o.size):
    x = torch.from_numpy(batch.images()).to(device).permute(0, 3, 1, 2)
    z = torch.nn.functional.normalize(net(x / 127.5 - 1))
    n = len(z)
    s = (z @ z.T / 0.5).fill_diagonal_(-torch.inf)
    partner = torch.arange(n, device=device).roll(n // 2)
    loss = torch.nn.functional.cross_entropy(s, partner)
    optim.zero_grad()
    loss.backward()
    optim.step()
    if batch.step == 0:
        print(f"epoch {batch.epoch}: loss {loss.item():.4f}", flush=True)
