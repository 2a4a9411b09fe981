"""Parts of these methods, encoders with a loss of their own: foil-python(7)."""
import copy

import torch
import torchvision
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"


def resnet18():
    net = torchvision.models.resnet18()
    net.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    net.maxpool = net.fc = nn.Identity()
    return net


def mlp(*width):
    return nn.Sequential(nn.Linear(*width[:2]), nn.BatchNorm1d(width[1]), nn.ReLU(),
                         nn.Linear(*width[1:]))


class Slow(nn.Module):  # a copy of modules that follows them, the momentum encoder
    def __init__(self, *fast, m=0.99):
        super().__init__()
        self.copy, self.m = copy.deepcopy(nn.Sequential(*fast)).requires_grad_(False), m
        self.fast = [p for module in fast for p in module.parameters()]
        self.register_buffer("share", torch.ones(()))  # first all: after --init

    @torch.no_grad()
    def forward(self, x):
        for slow, fast in zip(self.copy.parameters(), self.fast):
            slow.lerp_(fast, self.share)
        self.share.fill_(1 - self.m)
        return self.copy(x)


def spread(z):  # 1: unit vectors in all directions, 0: all are equal
    return nn.functional.normalize(z.detach(), dim=1).std(0).mean() * z.shape[1] ** 0.5
