"""augment_peer.py TAR N RECIPE: images a second of processor time that PIL
decodes and torchvision makes into two views, the files in memory."""
import io
import sys
import tarfile
import time

import torch
from PIL import Image, ImageFilter
from torchvision import transforms

tar, count, recipe = sys.argv[1], int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(1)


class Blur:
    def __call__(self, image):
        sigma = float(torch.empty(1).uniform_(0.1, 2))
        return image.filter(ImageFilter.GaussianBlur(sigma))


SIZE, SCALE, JITTER, BLUR = {
    "cifar": (32, 0.2, (0.4, 0.4, 0.4, 0.1), 0),
    "isogclr": (32, 0.2, (0.4, 0.4, 0.4, 0.1), 0.5),
    "imagenet": (224, 0.08, (0.8, 0.8, 0.8, 0.2), 0.5),
}[recipe]
steps = [
    transforms.RandomResizedCrop(SIZE, (SCALE, 1)),
    transforms.RandomHorizontalFlip(),
    transforms.RandomApply([transforms.ColorJitter(*JITTER)], 0.8),
    transforms.RandomGrayscale(0.2),
]
if BLUR:
    steps.append(transforms.RandomApply([Blur()], BLUR))
view = transforms.Compose(steps)

files = []
with tarfile.open(tar) as members:
    for member in members:
        if member.name.endswith((".jpg", ".jpeg")) and len(files) < count:
            files.append(members.extractfile(member).read())

WARM = 16  # images before the clock starts: both libraries set a lot up
start = 0
for i in range(-WARM, count):
    if i == 0:
        start = time.process_time()
    image = Image.open(io.BytesIO(files[i % len(files)])).convert("RGB")
    view(image)
    view(image)
print(f"{count / (time.process_time() - start):.0f}")
