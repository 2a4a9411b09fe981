"""loader_peer.py foil|torch TRAIN.foil TEST.foil EPOCHS SEED [--only]: the same
SimCLR loop in PyTorch on views by foil-augment or by DataLoader and torchvision.

One line: images a second, processor microseconds an image (of all processes;
with --only nothing is trained), accuracy of the nearest neighbour on TEST.
One thread for the network, one process for the views.
"""
import sys
import time

import numpy as np
import torch
from torch import nn

import foil
from peer_views import picture, seconds, two_views

loader, train, test = sys.argv[1:4]
epochs, seed = int(sys.argv[4]), int(sys.argv[5])
only = "--only" in sys.argv
BATCH, TAU = 128, 0.5
torch.set_num_threads(1)
torch.manual_seed(seed)


class Views(torch.utils.data.Dataset):
    """Two views of each image; the JPEGs are in memory."""

    def __init__(self, data):
        self.jpeg = [data[i] for i in range(len(data))]

    def __len__(self):
        return len(self.jpeg)

    def __getitem__(self, i):
        return two_views(self.jpeg[i])


def by_torch():
    """u1 [2 b,h,w,c]"""
    batches = torch.utils.data.DataLoader(
        Views(foil.Dataset(train)), BATCH, shuffle=True, drop_last=True,
        num_workers=1)
    for _ in range(epochs):
        for x in batches:
            yield x.transpose(0, 1).flatten(0, 1)


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


def scale(x):
    return x.permute(0, 3, 1, 2) / 127.5 - 1


def step(x):
    z = nn.functional.normalize(head(net(scale(x))))
    s = (z @ z.T / TAU).fill_diagonal_(-torch.inf)
    loss = nn.functional.cross_entropy(
        s, torch.arange(len(z)).roll(len(z) // 2))
    optim.zero_grad()
    loss.backward()
    optim.step()


def features(path):
    data = foil.Dataset(path)
    net.eval()
    with torch.no_grad():
        h = [net(scale(torch.from_numpy(np.stack(
            [np.asarray(picture(data[i])) for i in range(a, min(
                a + 500, len(data)))])))) for a in range(0, len(data), 500)]
    return nn.functional.normalize(torch.cat(h)), data.labels


images, began, used = 0, time.monotonic(), seconds()
for x in (by_foil if loader == "foil" else by_torch)():
    if not only:
        step(x)
    images += len(x) // 2
wall, used = time.monotonic() - began, seconds() - used
accuracy = float("nan")
if not only:
    (a, y), (b, u) = features(train), features(test)
    accuracy = (y[(b @ a.T).argmax(1).numpy()] == u).mean()
print(f"{images / wall:.0f} {1e6 * used / images:.0f} {accuracy:.4f}")
