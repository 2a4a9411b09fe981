#!/usr/bin/python3
"""SimSiam, Chen and He 2021, arXiv:2011.10566: predict the embedding of the other view,
without a gradient for it; no negatives and no second encoder."""
from parts import device, mlp, resnet18, spread
from torch import nn

import foil


class SimSiam(nn.Module):
    def __init__(self):
        super().__init__()
        self.predict = mlp(128, 32, 128)

    def forward(self, z, batch):
        target = z.detach().roll(batch.samples, 0)  # of the other view
        cosine = nn.functional.cosine_similarity(self.predict(z), target)
        return -cosine.mean(), {"spread": spread(z)}


foil.encode(resnet18(), mlp(512, 1024, 128), loss=SimSiam(), device=device)
