"""augment_cv_peer.py TAR N RECIPE: images a second of processor time that
OpenCV decodes and makes into two views, the files in memory.  Photos are decoded
at an eighth, a quarter or a half of their size where both crops stay large
enough, as a loader made for speed does."""
import math
import random
import sys
import tarfile
import time

import cv2
import numpy as np

tar, count, recipe = sys.argv[1], int(sys.argv[2]), sys.argv[3]
cv2.setNumThreads(1)
SIZE, SCALE, JITTER, HUE, BLUR = {
    "cifar": (32, 0.2, 0.4, 0.1, 0),
    "isogclr": (32, 0.2, 0.4, 0.1, 0.5),
    "imagenet": (224, 0.08, 0.8, 0.2, 0.5),
}[recipe]
LEVELS = np.arange(256)
REDUCED = {1: cv2.IMREAD_COLOR, 2: cv2.IMREAD_REDUCED_COLOR_2,
           4: cv2.IMREAD_REDUCED_COLOR_4, 8: cv2.IMREAD_REDUCED_COLOR_8}


def size_of(jpeg):
    """Width and height, from the first frame header."""
    at = 2
    while jpeg[at + 1] not in (0xC0, 0xC1, 0xC2):
        at += 2 + int.from_bytes(jpeg[at + 2:at + 4], "big")
    return (int.from_bytes(jpeg[at + 7:at + 9], "big"),
            int.from_bytes(jpeg[at + 5:at + 7], "big"))


def crop(width, height):
    """torchvision's RandomResizedCrop."""
    for _ in range(10):
        area = width * height * random.uniform(SCALE, 1)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w = round(math.sqrt(area * ratio))
        h = round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, width - w), random.randint(0, height - h), w, h
    side = min(width, height)
    return (width - side) // 2, (height - side) // 2, side, side


def factor(jitter):
    return random.uniform(max(0, 1 - jitter), 1 + jitter)


def grey(image):
    return cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)


def contrast(image):
    f = factor(JITTER)
    mean = cv2.mean(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))[0]
    table = np.clip(LEVELS * f + mean * (1 - f), 0, 255).astype(np.uint8)
    return cv2.LUT(image, table)


def saturation(image):
    f = factor(JITTER)
    return cv2.addWeighted(image, f, grey(image), 1 - f, 0)


def hue(image):
    turn = int(random.uniform(-HUE, HUE) * 180)
    hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
    table = ((LEVELS + turn) % 180).astype(np.uint8)
    hsv[..., 0] = cv2.LUT(np.ascontiguousarray(hsv[..., 0]), table)
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)


def view(image):
    if random.random() < 0.5:
        image = cv2.flip(image, 1)
    if random.random() < 0.8:
        steps = [lambda x: cv2.convertScaleAbs(x, alpha=factor(JITTER)),
                 contrast, saturation, hue]
        random.shuffle(steps)
        for step in steps:
            image = step(image)
    if random.random() < 0.2:
        image = grey(image)
    if random.random() < BLUR:
        image = cv2.GaussianBlur(image, (0, 0), random.uniform(0.1, 2))
    return image


def two_views(jpeg):
    width, height = size_of(jpeg)
    crops = [crop(width, height) for _ in range(2)]
    least = min(min(w, h) for _, _, w, h in crops)
    by = max(k for k in REDUCED if k == 1 or least >= k * SIZE)
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), REDUCED[by])
    for x, y, w, h in crops:
        part = image[y // by:(y + h) // by, x // by:(x + w) // by]
        how = cv2.INTER_AREA if part.shape[0] > SIZE else cv2.INTER_LINEAR
        view(cv2.resize(part, (SIZE, SIZE), interpolation=how))


files = []
with tarfile.open(tar) as members:
    for member in members:
        if member.name.endswith((".jpg", ".jpeg")) and len(files) < count:
            files.append(members.extractfile(member).read())

WARM = 16  # images before the clock starts
start = 0
for i in range(-WARM, count):
    if i == 0:
        start = time.process_time()
    two_views(files[i % len(files)])
print(f"{count / (time.process_time() - start):.0f}")
