#!/usr/bin/python3
"""An encoder in PyTorch on several machines, by torchrun: foil-ranks(7).
usage, on the first machine, where foil-train runs:
    foil-train -r RUN --optim adamw --lr 1e-3 --encoder 'FOIL_MEMORY=/proc/$$/fd/3 \\
        exec torchrun --nnodes 2 --node_rank 0 --master_addr HOST torchrun.py SIZE'
on the second one:
    torchrun --nnodes 2 --node_rank 1 --master_addr HOST torchrun.py SIZE

Only rank 0 exchanges messages with foil-train.  It distributes the rows of a batch,
row i to rank i modulo their number, and receives their embeddings; then dz in the same
way, and the sum of all gradients.  It broadcasts the weights with each batch, so the
others have no file and no optimiser.  Everything but training it does alone.
"""
import os
import pathlib
import sys

import torch
import torch.distributed as dist

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import foil


class Net(torch.nn.Module):
    """Replace it by yours; this one is linear."""

    def __init__(self, size):
        super().__init__()
        self.fc = torch.nn.Linear(3 * size * size, 16)

    def forward(self, x):
        return self.fc(x.flatten(1))


def broadcast(*words):
    """Broadcasts the words of rank 0."""
    words = torch.tensor(words + (0,) * (6 - len(words)), device=device)
    dist.broadcast(words, 0)
    return words.tolist()


def scatter(rows, shape):
    """This rank's part of the rows of rank 0, which have this shape."""
    if rank:
        own = torch.empty(len(range(rank, shape[0], ranks)), *shape[1:], device=device)
        dist.recv(own, 0)
        return own
    for r in range(1, ranks):
        dist.send(rows[r::ranks].contiguous(), r)
    return rows[::ranks]


def embed(x, seed, n):
    """Embeddings of this rank's rows x, of n in all; at rank 0 also those of all."""
    for t in net.state_dict().values():
        dist.broadcast(t, 0)
    torch.manual_seed(seed + rank)
    with torch.enable_grad():
        z = plain(x)
    if rank:
        dist.send(z.detach(), 0)
        return z, None
    rows = z.new_empty(n, z.shape[1])
    rows[::ranks] = z.detach()
    for r in range(1, ranks):
        part = torch.empty_like(rows[r::ranks])
        dist.recv(part, r)
        rows[r::ranks] = part
    return z, rows


def gradient(z, dz):
    """Sums the gradients of all ranks at rank 0."""
    grads = torch.autograd.grad(z, [p for p in net.parameters() if p.requires_grad], dz)
    for g in grads:
        dist.reduce(g, 0)
    return grads


class Scattered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *params):
        seed = torch.initial_seed() >> 1
        broadcast(FORWARD, seed, *x.shape)
        ctx.z, rows = embed(scatter(x, x.shape), seed, len(x))
        return rows

    @staticmethod
    def backward(ctx, dz):
        broadcast(BACKWARD)
        return None, *gradient(ctx.z, scatter(dz, dz.shape))


def lead(x):
    params = [p for p in net.parameters() if p.requires_grad]
    return Scattered.apply(x, *params) if net.training else plain(x)


def follow():
    shape = z = None
    while True:
        what, seed, *words = broadcast()
        if what == FORWARD:
            shape = words
            z, _ = embed(scatter(None, shape), seed, shape[0])
        elif what == BACKWARD:
            gradient(z, scatter(None, (shape[0], z.shape[1])))
        else:
            return


END, FORWARD, BACKWARD = range(3)
dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
rank, ranks = dist.get_rank(), dist.get_world_size()
device = torch.device("cpu")
if torch.cuda.is_available():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
torch.manual_seed(0)
net = Net(int(sys.argv[1])).to(device)
plain = net.forward
if rank:
    net.train()
    follow()
else:
    net.forward = lead
    foil.encode(net, device=device)
    broadcast(END)
dist.barrier()
dist.destroy_process_group()
