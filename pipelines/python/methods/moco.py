#!/usr/bin/python3
"""MoCo v3, Chen, Xie and He 2021, arXiv:2104.02057: InfoNCE between predictions and the
keys of a slow copy of the encoder; negatives are the keys of the batch."""
import torch
from parts import Slow, device, mlp, resnet18, spread
from torch import nn

import foil

net, head = resnet18(), mlp(512, 1024, 128)


class Moco(nn.Module):
    def __init__(self, tau=0.2):
        super().__init__()
        self.slow, self.predict, self.tau = Slow(net, head), mlp(128, 1024, 128), tau

    def forward(self, z, batch):
        unit, n = nn.functional.normalize, batch.samples
        q, k = unit(self.predict(z), dim=1), unit(self.slow(batch.x), dim=1)
        own = torch.arange(n, device=z.device)
        parts = (nn.functional.cross_entropy(a @ b.T / self.tau, own)
                 for a, b in ((q[:n], k[n:]), (q[n:], k[:n])))  # a view, the other one
        return 2 * self.tau * sum(parts), {"spread": spread(z)}


foil.encode(net, head, loss=Moco(), device=device)
