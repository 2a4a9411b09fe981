#!/usr/bin/python3
"""DINO, Caron et al. 2021, arXiv:2104.14294, with two views: predict the distribution
that a slow copy of the encoder computes from the other view, centred and sharpened."""
import torch
from parts import Slow, device, mlp, resnet18
from torch import nn

import foil


class Cosines(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs))

    def forward(self, x):
        unit = nn.functional.normalize
        return unit(x, dim=1) @ unit(self.weight, dim=1).T


net, head = resnet18(), nn.Sequential(mlp(512, 1024, 128), Cosines(128, 256))


class Dino(nn.Module):
    def __init__(self, student=0.1, teacher=0.04):
        super().__init__()
        self.slow, self.student, self.teacher = Slow(net, head), student, teacher
        self.register_buffer("center", torch.zeros(256))

    def forward(self, z, batch):
        t = self.slow(batch.x)
        p = torch.softmax((t - self.center) / self.teacher, 1).roll(batch.samples, 0)
        self.center.lerp_(t.mean(0), 0.1)
        entropy = -(p * p.clamp(1e-9).log()).sum(1).mean()
        value = -(p * torch.log_softmax(z / self.student, 1)).sum(1).mean()
        return value, {"entropy": entropy}


foil.encode(net, head, loss=Dino(), device=device)
