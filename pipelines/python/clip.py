#!/usr/bin/python3
"""An encoder of images and one of captions in PyTorch.
usage: foil run clip PAIRS --encoder 'python3 clip.py' --text program"""
import torch
import torchvision

import foil

torch.set_num_threads(1)
torch.manual_seed(0)


class Words(torch.nn.Module):
    """The mean of a text's word vectors, then a linear layer."""

    def __init__(self, vocabulary=65536, width=64):
        super().__init__()
        self.words = torch.nn.Embedding(vocabulary, width)
        self.project = torch.nn.Linear(width, 128)

    def forward(self, tokens, lengths):
        there = torch.arange(tokens.shape[1]) < lengths[:, None].cpu()
        x = self.words(tokens) * there.to(tokens.device)[:, :, None]
        return self.project(x.sum(1) / lengths[:, None].clamp(min=1))


net = torchvision.models.resnet18(num_classes=128)
foil.encode(net, text=Words(),
            device="cuda" if torch.cuda.is_available() else "cpu")
