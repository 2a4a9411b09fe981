#!/usr/bin/python3
"""Views by torchvision: stands in the place of foil-augment.
usage: augmenter.py -r RUN [--size N] [-s SEED] [--recipe NAME] [--filter] DATA"""
import io

import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T

import foil

o = foil.options("data", run=str, size=32, seed=0, recipe=None, filter=False)
torch.set_num_threads(1)
simclr = T.Compose([
    T.RandomResizedCrop(o.size, scale=(0.2, 1)), T.RandomHorizontalFlip(),
    T.RandomApply([T.ColorJitter(0.4, 0.4, 0.4, 0.1)], 0.8),
    T.RandomGrayscale(0.2)])


def view(image, rng):
    torch.manual_seed(int(rng.integers(2 ** 63)))
    return np.asarray(simclr(Image.open(io.BytesIO(image)).convert("RGB")))


foil.augment(o.run, o.data, view, seed=o.seed, filter=o.filter,
             recipe=o.recipe or f"torchvision,{o.size},{o.seed}")
