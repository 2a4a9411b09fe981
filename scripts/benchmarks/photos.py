"""photos.py TAR N: N JPEGs of 500 x 375, of about 80 kB at quality 95, like
photos in size and in how their spectrum falls: coloured noise, no picture."""
import io
import sys
import tarfile

import numpy as np
from PIL import Image

WIDTH, HEIGHT, QUALITY, FALL = 500, 375, 95, 1.5
rng = np.random.default_rng(1)
x, y = np.fft.rfftfreq(WIDTH), np.fft.fftfreq(HEIGHT)[:, None]
weight = 1 / np.maximum(np.hypot(x, y), 1 / WIDTH) ** FALL


def plane():
    """Noise whose amplitudes fall with the frequency; mean 0, variance 1."""
    noise = np.fft.rfft2(rng.normal(size=(HEIGHT, WIDTH))) * weight
    noise = np.fft.irfft2(noise, (HEIGHT, WIDTH))
    return (noise - noise.mean()) / noise.std()


with tarfile.open(sys.argv[1], "w") as tar:
    for i in range(int(sys.argv[2])):
        grey = plane()  # colours of a photo mostly differ in brightness
        planes = [128 + 50 * (grey + 0.3 * plane()) for _ in range(3)]
        pixels = np.clip(np.stack(planes, 2), 0, 255).astype(np.uint8)
        data = io.BytesIO()
        Image.fromarray(pixels).save(data, "JPEG", quality=QUALITY)
        member = tarfile.TarInfo(f"{i:04}.jpg")
        member.size = data.tell()
        data.seek(0)
        tar.addfile(member, data)
