#!/usr/bin/python3
"""SwAV, Caron et al. 2020, arXiv:2006.09882, without a queue: predict to which
prototypes another view is assigned, one of the first two, where each prototype gets
equally many rows.  With foil-augment -v 2x32+6x16 six small crops predict it, too."""
import torch
from parts import device, mlp, resnet18, spread
from torch import nn

import foil


@torch.no_grad()
def assign(scores, epsilon=0.05, rounds=3):  # by Sinkhorn and Knopp
    q = torch.exp((scores - scores.max()) / epsilon)
    for _ in range(rounds):
        q = q / q.sum(0)
        q = q / q.sum(1, keepdim=True)
    return q


class Swav(nn.Module):
    def __init__(self, prototypes=64, tau=0.1):
        super().__init__()
        self.prototypes, self.tau = nn.Parameter(torch.randn(prototypes, 128)), tau

    def forward(self, z, batch):
        unit, n = nn.functional.normalize, batch.samples
        scores = unit(z, dim=1) @ unit(self.prototypes, dim=1).T
        q = [assign(s) for s in scores[:2 * n].split(n)]
        p = torch.log_softmax(scores / self.tau, 1).split(n)
        value = [-(q[t] * p[v]).sum(1).mean() for t in range(2) for v in range(len(p))
                 if v != t]
        return sum(value) / len(value), {"spread": spread(z)}


foil.encode(resnet18(), mlp(512, 1024, 128), loss=Swav(), device=device)
