"""A loss that is a module: it has a predictor and a slow copy of it, which moves at each
step.  usage: siamese.py KIND NAME=VALUE...

  encode   the encoder of foil-train; with nan=STEP the loss of that step is nan
  foreign  the loss is a function, but the optimiser has its parameters
  loop     an ordinary loop on the views of data=DATA, normalised as in run=RUN; prints
           the loss of each step and skips the step nan=STEP
"""
import copy
import json
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "pipelines/python"))
import foil

nn = torch.nn
torch.set_num_threads(1)
torch.manual_seed(0)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.predict = nn.Sequential(nn.Linear(16, 8), nn.BatchNorm1d(8), nn.ReLU(),
                                     nn.Linear(8, 16))
        self.slow = copy.deepcopy(self.predict).requires_grad_(False)

    def forward(self, z, batch):
        with torch.no_grad():
            for slow, fast in zip(self.slow.parameters(), self.predict.parameters()):
                slow.lerp_(fast, 0.1)
        p, t = self.predict(z), self.slow(z).detach()
        t = t.roll(batch.samples, 0)
        value = -nn.functional.cosine_similarity(p, t).mean()
        return value * float("nan") if batch.epoch * batch.steps + batch.step == bad \
            else value


def loop(net, loss, optim):
    with open(options["run"] + "/latest/config.json") as f:
        about = json.load(f)["encoder"]
    mean, deviation = (torch.tensor(about[k]).view(1, 3, 1, 1)
                       for k in ("mean", "deviation"))
    for step, b in enumerate(foil.views(options["data"], batch=16, epochs=3, size=8)):
        if step == bad:
            continue
        x = torch.from_numpy(b.images()).permute(0, 3, 1, 2) / 255
        b.samples = len(b)
        value = loss(net((x - mean) / deviation), b)
        optim.zero_grad()
        value.backward()
        optim.step()
        print(value.item(), flush=True)


kind, *words = sys.argv[1:]
options = dict(w.split("=", 1) for w in words)
bad = int(options.get("nan", -1))
net, loss = nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 16)), Siamese()
optim = torch.optim.SGD([*net.parameters(), *loss.parameters()], 0.05, 0.9)
if kind == "loop":
    loop(net, loss, optim)
else:
    foil.encode(net, optim=optim,
                loss=loss if kind == "encode" else lambda z, batch: loss(z, batch))
