#!/usr/bin/env python3
"""step_peer.py [--size=PIXELSxPAIRS] ARCH train|features f32|bf16 THREADS STEPS
LAYOUT: the shortest time of a step with PyTorch, in ms, the peak memory, in MB,
and its version and BLAS.  The same work as tests/bench/bench_step.c; LAYOUT is plain or
channels_last."""
import resource
import sys
import time

import torch
from torch import nn
from torchvision.models.resnet import BasicBlock, Bottleneck, ResNet
from torchvision.models.vision_transformer import VisionTransformer

side, ROWS = 32, 64
if sys.argv[1].startswith('--size='):
    side, ROWS = map(int, sys.argv.pop(1)[7:].split('x'))
    ROWS *= 2
arch, mode, precision, threads, steps, layout = sys.argv[1:]
torch.set_num_threads(int(threads))
torch.manual_seed(1)
half = precision == 'bf16'

if arch.startswith('vit:'):
    width, layers, patch = map(int, arch[4:].split('x'))
    net = VisionTransformer(side, patch, layers, width // 64, width, 4 * width)
elif arch == 'resnet18':
    width = 64
    net = ResNet(BasicBlock, [2, 2, 2, 2])
elif arch == 'resnet50':
    width = 64
    net = ResNet(Bottleneck, [3, 4, 6, 3])
else:
    width = 16
    net = ResNet(BasicBlock, [3, 3, 3, 1])
    net.inplanes = width
    net.bn1 = nn.BatchNorm2d(width)
    net.layer1 = net._make_layer(BasicBlock, width, 3)
    net.layer2 = net._make_layer(BasicBlock, 2 * width, 3, 2)
    net.layer3 = net._make_layer(BasicBlock, 4 * width, 3, 2)
    net.layer4 = nn.Identity()
hidden = 512 if arch in ('resnet18', 'resnet50') else 64
last = 'heads' if arch.startswith('vit:') else 'fc'
features = {'heads': width, 'fc': 2048 if arch == 'resnet50' else hidden}[last]
if last == 'fc' and side < 64:
    net.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False)
    net.maxpool = nn.Identity()
setattr(net, last, nn.Sequential(nn.Linear(features, hidden), nn.ReLU(),
                                 nn.Linear(hidden, 128)))
if mode == 'features':
    setattr(net, last, nn.Identity())
    net.eval()
pixels = torch.randint(0, 256, (ROWS, 3, side, side), dtype=torch.uint8)
if layout == 'channels_last':
    net = net.to(memory_format=torch.channels_last)
    pixels = pixels.to(memory_format=torch.channels_last)
optim = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9,
                        weight_decay=1e-4)
partner = torch.arange(ROWS).roll(ROWS // 2)


def blas():
    """The library of products in use: of libblas.so.3, the folder it lies in."""
    with open('/proc/self/maps') as maps:
        found = {line.split('/')[-2] for line in maps if '/libblas.so' in line}
    return '+'.join(sorted(found)) or 'none'


def encode():
    """The net's output for the batch of bytes."""
    x = (pixels / 255 - 0.5) / 0.25
    with torch.autocast('cpu', dtype=torch.bfloat16, enabled=half):
        return net(x)


def train_step():
    """Forward, SimCLR, backward, SGD."""
    v = nn.functional.normalize(encode().float())
    s = v @ v.T / 0.5
    s.fill_diagonal_(-1e9)
    optim.zero_grad()
    nn.functional.cross_entropy(s, partner).backward()
    optim.step()


def features_step():
    """Forward only."""
    with torch.no_grad():
        encode()


step = train_step if mode == 'train' else features_step
# as tests/bench/shortest.h
now = time.process_time if threads == '1' else time.perf_counter
times = []
for _ in range(int(steps) + 1):
    start = now()
    step()
    times.append((now() - start) * 1e3)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f'{min(times[1:]):.2f} {peak:.0f} torch-{torch.__version__},{blas()}')
