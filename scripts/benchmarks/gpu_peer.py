"""gpu_peer.py: contrastive learning on a GPU, for gpu.sh.

  encode NET                           the encoder of foil-train, by foil.encode()
  plain NET INDEX BATCH SIZE STEPS     the same in an ordinary loop on DataLoader, with
                                       a worker for each processor
  alone NET BATCH SIZE STEPS           the loop without images: one batch of noise that
                                       is on the GPU

NET is resnet18, with the stem of small images, or resnet50 of torchvision; in
bfloat16 by autocast, channels last.  The last two print images a second, from a
quarter of the steps on.  DEVICE=cpu tries it without a GPU.
"""
import os
import sys
import time

import torch
import torchvision
from torch import nn

import foil

DEVICE = os.environ.get("DEVICE", "cuda")
DIM, TAU = 128, 0.1


def network(name):
    """And its head."""
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    net = getattr(torchvision.models, name)()
    width = net.fc.in_features
    net.fc = nn.Identity()
    if name == "resnet18":
        net.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        net.maxpool = nn.Identity()
    head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, DIM))
    return net.to(memory_format=torch.channels_last), head


def encode(name):
    foil.encode(*network(name), device=DEVICE, autocast=torch.bfloat16)


def loop(name, batches, steps):
    """Of u1 [2 b,h,w,c] each."""
    from peer_views import scale, simclr_step
    both = nn.Sequential(*network(name)).to(DEVICE)
    optim = torch.optim.SGD(both.parameters(), 0.1, 0.9, weight_decay=1e-4)

    def now():
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        return time.monotonic()

    for step, x in zip(range(steps), batches):
        if step == steps // 4:
            began = now()
        x = scale(x.to(DEVICE, non_blocking=True))
        with torch.autocast(DEVICE, torch.bfloat16):
            z = both(x)
        simclr_step(z.float(), TAU, optim)
    print(f"{(steps - steps // 4) * len(x) / 2 / (now() - began):.0f}")


def plain(name, index, batch, size, steps):
    from peer_views import view_batches
    batch, steps = int(batch), int(steps)
    loop(name, view_batches(index, batch, steps, int(size), os.cpu_count(),
                            pin_memory=DEVICE == "cuda"), steps)


def alone(name, batch, size, steps):
    x = torch.randint(0, 255, (2 * int(batch), int(size), int(size), 3),
                      dtype=torch.uint8, device=DEVICE)
    loop(name, [x] * int(steps), int(steps))


{"encode": encode, "plain": plain, "alone": alone}[sys.argv[1]](*sys.argv[2:])
