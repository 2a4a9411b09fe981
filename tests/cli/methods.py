"""A method of pipelines/python/methods with a small encoder.  With RANKS its head has no
batch norm, which each rank computes over its own rows.  Also reports `same`, the share
of rows whose nearest row is of the same class.  usage: methods.py NAME DATA [RANKS]"""
import pathlib
import runpy
import sys
import types

methods = pathlib.Path(__file__).parents[2] / "pipelines/python/methods"
sys.path[:0] = [str(methods), str(methods.parent)]
sys.modules["torchvision"] = types.ModuleType("torchvision")  # takes long to import
import foil
import parts
import torch

torch.set_num_threads(1)
nn, mlp, encode = parts.nn, parts.mlp, foil.encode
name, sys.argv[1], *ranks = sys.argv[1:]
ranks = int(ranks[0]) if ranks else 0
parts.device = "cpu"
parts.resnet18 = lambda: nn.Sequential(
    nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
    nn.Flatten())
parts.mlp = lambda a, b, c: nn.Linear(a, c) if ranks and a == 512 else mlp(
    a, min(b, 128), c)


def measured(loss):
    def call(z, batch):
        value, more = loss(z, batch)
        v = nn.functional.normalize(z.detach()[:batch.samples], dim=1)
        nearest = (v @ v.T).fill_diagonal_(-2).argmax(1)
        same = (batch.labels[nearest] == batch.labels).float().mean()
        return value, {**more, "same": same}
    return call


def measured_encode(net, head, loss, device, data=sys.argv[1]):
    if isinstance(loss, nn.Module):
        loss.forward = measured(loss.forward)
    else:
        loss = measured(loss)
    encode(net, head, loss=loss, data=data, device=device, ranks=max(ranks, 1))


foil.encode = measured_encode
runpy.run_path(str(methods / f"{name}.py"))
