#!/usr/bin/python3
"""A ResNet-18 in PyTorch, on a GPU if there is one.
usage: foil run simclr DATA --encoder 'python3 encoder.py'"""
import torch
import torchvision

import foil

torch.set_num_threads(1)
torch.manual_seed(0)
net = torchvision.models.resnet18()
net.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
net.maxpool = net.fc = torch.nn.Identity()
head = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(),
                           torch.nn.Linear(512, 128))
foil.encode(net, head, device="cuda" if torch.cuda.is_available() else "cpu")
