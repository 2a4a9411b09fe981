#!/usr/bin/python3
"""Views by torchvision.
usage: foil-augment --view-command 'python3 augmenter.py' ... DATA"""
import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T

import foil

torch.set_num_threads(1)
color = T.Compose([
    T.RandomHorizontalFlip(),
    T.RandomApply([T.ColorJitter(0.4, 0.4, 0.4, 0.1)], 0.8),
    T.RandomGrayscale(0.2)])


def view(image, size, rng):
    torch.manual_seed(int(rng.integers(2 ** 63)))
    crop = T.RandomResizedCrop(size, scale=(0.2, 1))
    return np.asarray(color(crop(Image.fromarray(image))))


foil.make_views(view)
