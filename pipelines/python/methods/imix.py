#!/usr/bin/python3
"""i-Mix, Lee et al. 2021, arXiv:2010.08887: a mixed image is to be near the other views
of both of its samples, by their shares; ../mixer.py makes the views."""
import torch
from parts import device, mlp, resnet18, spread
from torch import nn

import foil


def imix(z, batch, tau=0.2):
    n, v = batch.samples, nn.functional.normalize(z, dim=1)
    own, partner = batch.made[:n, 0], batch.made[:n, 1].long()
    log_p = torch.log_softmax(v[:n] @ v[n:].T / tau, 1)
    row = torch.arange(n, device=z.device)
    value = -own * log_p[row, row] - (1 - own) * log_p[row, partner]
    return value.mean(), {"spread": spread(z)}


foil.encode(resnet18(), mlp(512, 1024, 128), loss=imix, device=device)
