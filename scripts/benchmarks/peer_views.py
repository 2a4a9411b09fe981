"""Imported by accuracy_peer.py, loader_peer.py, encoder_peer.py and gpu_peer.py: views by
torchvision like the recipe cifar, an ordinary loop, and processor time."""
import io
import resource

import numpy as np
import torch
from PIL import Image
from torchvision import transforms as T

import foil


def _view(size):
    return T.Compose([
        T.RandomResizedCrop(size, scale=(0.2, 1)), T.RandomHorizontalFlip(),
        T.RandomApply([T.ColorJitter(0.4, 0.4, 0.4, 0.1)], 0.8),
        T.RandomGrayscale(0.2)])


def picture(jpeg):
    """An image of PIL, in RGB."""
    return Image.open(io.BytesIO(jpeg)).convert("RGB")


def two_views(jpeg, size=32):
    """Of an image, u1 [2,h,w,c]."""
    image, view = picture(jpeg), _view(size)
    return np.stack([np.asarray(view(image)) for _ in range(2)])


def seconds():
    """Processor seconds, of all processes."""
    return sum(u.ru_utime + u.ru_stime for u in map(
        resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Views(torch.utils.data.Dataset):
    """Two views of each image; the JPEGs are in memory."""

    def __init__(self, path, size=32):
        data, self.size = foil.Dataset(path), size
        self.jpeg = [data[i] for i in range(len(data))]

    def __len__(self):
        return len(self.jpeg)

    def __getitem__(self, i):
        return two_views(self.jpeg[i], self.size)


def view_batches(path, batch, epochs, size=32, workers=1, **more):
    """By DataLoader: u1 [2 b,h,w,c]."""
    batches = torch.utils.data.DataLoader(
        Views(path, size), batch, shuffle=True, drop_last=True,
        num_workers=workers, persistent_workers=True, **more)
    for _ in range(epochs):
        for x in batches:
            yield x.transpose(0, 1).flatten(0, 1)


def scale(x):
    """u1 [n,h,w,c] as a network takes it."""
    return x.permute(0, 3, 1, 2) / 127.5 - 1


def simclr_step(z, tau, optim):
    """Of z [2 b,d], the views of an image b rows apart."""
    z = torch.nn.functional.normalize(z)
    s = (z @ z.T / tau).fill_diagonal_(-torch.inf)
    loss = torch.nn.functional.cross_entropy(
        s, torch.arange(len(z), device=z.device).roll(len(z) // 2))
    optim.zero_grad()
    loss.backward()
    optim.step()


def neighbour_accuracy(net, train, test, rows):
    """Of the nearest neighbour; so many images go through the net at a time."""
    def features(path):
        data = foil.Dataset(path)
        net.eval()
        with torch.no_grad():
            h = [net(scale(torch.from_numpy(np.stack(
                [np.asarray(picture(data[i]))
                 for i in range(a, min(a + rows, len(data)))]))))
                for a in range(0, len(data), rows)]
        return torch.nn.functional.normalize(torch.cat(h)), data.labels

    (a, y), (b, u) = features(train), features(test)
    return (y[(b @ a.T).argmax(1).numpy()] == u).mean()
