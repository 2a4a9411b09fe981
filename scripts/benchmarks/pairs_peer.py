#!/usr/bin/env python3
"""pairs_peer.py TEXT STEPS: the least processor time of a step on 128 images and
their captions with PyTorch and one thread, in ms, and the peak memory, in MB.  The
same work as tests/bench/bench_pairs.c with objective clip: captions are padded
to the longest and masked."""
import pathlib
import resource
import sys
import time

import torch
from torch import nn
from torchvision.models.resnet import BasicBlock, ResNet

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here / '../../tests/data/conformance'))
import make_towers  # noqa: E402

PAIRS, SIDE, DIM, IDS, CONTEXT, LEAST, MOST = 128, 32, 128, 3253, 24, 5, 13
text, steps = sys.argv[1:]
torch.set_default_dtype(torch.float32)
torch.set_num_threads(1)
torch.manual_seed(1)

images = ResNet(BasicBlock, [2, 2, 2, 2])
images.inplanes = 32
images.conv1 = nn.Conv2d(3, 32, 7, 2, 3, bias=False)
images.bn1 = nn.BatchNorm2d(32)
images.layer1 = images._make_layer(BasicBlock, 32, 2)
for k in (2, 3, 4):
    setattr(images, f'layer{k}',
            images._make_layer(BasicBlock, 16 << k, 2, 2))
images.fc = nn.Linear(256, DIM, bias=False)
name, _, sizes = text.partition(':')
sizes = [int(x) for x in sizes.split('x')]
if name == 'bow':
    texts = make_towers.Bow(sizes[0], IDS, DIM)
else:
    if len(sizes) == 2:
        sizes.append(max(1, sizes[0] // 64))
    texts = make_towers.Clip(*sizes, IDS, CONTEXT, DIM)
make_towers.fill(texts)
scale = nn.Parameter(torch.tensor(2.659))
optim = torch.optim.AdamW([*images.parameters(), *texts.parameters(), scale],
                          lr=1e-3, betas=(.9, .98), weight_decay=0.05)
own = torch.arange(PAIRS)


def batch():
    """Pixels, tokens and their lengths."""
    lengths = torch.randint(LEAST, MOST + 1, (PAIRS,))
    tokens = torch.randint(0, IDS - 1, (PAIRS, int(lengths.max())))
    tokens[torch.arange(tokens.shape[1]) >= lengths[:, None]] = 0
    tokens[own, lengths - 1] = IDS - 1
    pixels = torch.randint(0, 256, (PAIRS, 3, SIDE, SIDE), dtype=torch.uint8)
    return pixels, tokens, lengths


def train_step(pixels, tokens, lengths):
    """Both towers, CLIP's loss with a learnt temperature, AdamW."""
    u = nn.functional.normalize(images(pixels / 255))
    v = nn.functional.normalize(texts(tokens, lengths))
    s = u @ v.T * scale.exp().clamp(max=100)
    loss = (nn.functional.cross_entropy(s, own) +
            nn.functional.cross_entropy(s.T, own)) / 2
    optim.zero_grad(set_to_none=True)
    loss.backward()
    optim.step()


times = []
for _ in range(int(steps) + 3):
    data = batch()
    start = time.process_time()
    train_step(*data)
    times.append((time.process_time() - start) * 1e3)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f'{min(times[3:]):.2f} {peak:.0f}')
