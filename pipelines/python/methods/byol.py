#!/usr/bin/python3
"""BYOL, Grill et al. 2020, arXiv:2006.07733: predict what a slow copy of the encoder
computes from the other view; no negatives."""
from parts import Slow, device, mlp, resnet18, spread
from torch import nn

import foil

net, head = resnet18(), mlp(512, 1024, 128)


class Byol(nn.Module):
    def __init__(self):
        super().__init__()
        self.slow, self.predict = Slow(net, head), mlp(128, 1024, 128)

    def forward(self, z, batch):
        target = self.slow(batch.x).roll(batch.samples, 0)  # of the other view
        cosine = nn.functional.cosine_similarity(self.predict(z), target)
        return 2 - 2 * cosine.mean(), {"spread": spread(z)}


foil.encode(net, head, loss=Byol(), device=device)
