"""Imported by accuracy_peer.py and loader_peer.py: views by torchvision, as the
recipe cifar makes them, and processor time."""
import io
import resource

import numpy as np
from PIL import Image
from torchvision import transforms as T

_view = T.Compose([
    T.RandomResizedCrop(32, scale=(0.2, 1)), T.RandomHorizontalFlip(),
    T.RandomApply([T.ColorJitter(0.4, 0.4, 0.4, 0.1)], 0.8),
    T.RandomGrayscale(0.2)])


def picture(jpeg):
    """An image of PIL, in RGB."""
    return Image.open(io.BytesIO(jpeg)).convert("RGB")


def two_views(jpeg):
    """Of an image, u1 [2,h,w,c]."""
    image = picture(jpeg)
    return np.stack([np.asarray(_view(image)) for _ in range(2)])


def seconds():
    """Processor seconds, of all processes."""
    return sum(u.ru_utime + u.ru_stime for u in map(
        resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
