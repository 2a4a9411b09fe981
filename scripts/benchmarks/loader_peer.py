"""loader_peer.py foil|torch TRAIN.foil TEST.foil EPOCHS SEED [--only]: the same
SimCLR loop in PyTorch on views by foil-augment or by DataLoader and torchvision.

One line: images a second, processor microseconds an image (of all processes;
with --only nothing is trained), accuracy of the nearest neighbour on TEST.
One thread for the network, one process for the views.
"""
import sys
import time

import torch
from torch import nn

import foil
from peer_views import (neighbour_accuracy, scale, seconds, simclr_step,
                        view_batches)

loader, train, test = sys.argv[1:4]
epochs, seed = int(sys.argv[4]), int(sys.argv[5])
only = "--only" in sys.argv
BATCH, TAU = 128, 0.5
torch.set_num_threads(1)
torch.manual_seed(seed)


def by_foil():
    for batch in foil.views(train, batch=BATCH, epochs=epochs, size=32,
                            seed=seed, select="--remainder drop"):
        yield torch.from_numpy(batch.images())


def block(c, d):
    return nn.Sequential(nn.Conv2d(c, d, 3, 2, 1, bias=False),
                         nn.BatchNorm2d(d), nn.ReLU())


net = nn.Sequential(block(3, 32), block(32, 64), block(64, 128),
                    nn.AdaptiveAvgPool2d(1), nn.Flatten())
head = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 64))
optim = torch.optim.SGD([*net.parameters(), *head.parameters()], 0.1, 0.9)


by_torch = view_batches(train, BATCH, epochs)
images, began, used = 0, time.monotonic(), seconds()
for x in by_foil() if loader == "foil" else by_torch:
    if not only:
        simclr_step(head(net(scale(x))), TAU, optim)
    images += len(x) // 2
wall, used = time.monotonic() - began, seconds() - used
accuracy = float("nan")
if not only:
    accuracy = neighbour_accuracy(net, train, test, 500)
print(f"{images / wall:.0f} {1e6 * used / images:.0f} {accuracy:.4f}")
