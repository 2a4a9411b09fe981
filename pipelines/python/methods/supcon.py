#!/usr/bin/python3
"""SupCon, Khosla et al. 2020, arXiv:2004.11362: InfoNCE with all rows of the same label
as positives.  usage: supcon.py DATA, whose labels it reads"""
import sys

import torch
from parts import device, mlp, resnet18, spread
from torch import nn

import foil


def supcon(z, batch, tau=0.1):
    y, v = batch.labels.repeat(batch.views), nn.functional.normalize(z, dim=1)
    own = torch.eye(len(z), dtype=torch.bool, device=z.device)
    s = (v @ v.T / tau).masked_fill(own, -1e9)
    log_p = s - torch.logsumexp(s, 1, keepdim=True)
    same = (y[:, None] == y) & ~own
    value = -(log_p * same).sum(1) / same.sum(1)
    return value.mean(), {"spread": spread(z)}


foil.encode(resnet18(), mlp(512, 1024, 128), loss=supcon, device=device,
            data=sys.argv[1])
