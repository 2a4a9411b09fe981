"""A training by foil.train(), or the same network by foil.encode().
usage: trainer.py DATA RUN [again]     trains, and checks the Run
       trainer.py                      encoder of foil-train

With AT=N and DO=COMMAND the network runs a command in its Nth forward pass, and raises an
exception if it fails.
"""
import os
import subprocess
import sys

import numpy as np
import torch

import foil

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = torch.nn.Linear(3 * 8 * 8, 16), torch.nn.BatchNorm1d(16)
        self.passes = 0

    def forward(self, x):
        self.passes += 1
        if self.passes == int(os.environ.get("AT", 0)):
            subprocess.run(os.environ["DO"], shell=True, check=True)
        return torch.nn.functional.dropout(self.norm(self.fc(x.flatten(1))).relu(), .2,
                                           self.training)


net, head = Net(), torch.nn.Linear(16, 8)
if len(sys.argv) == 1:
    foil.encode(net, head)
    sys.exit()
data, folder, *again = sys.argv[1:]
run = foil.train(data, net, head, run=folder, resume=bool(again), objective="isogclr",
                 epochs=20, batch=16, size=8, augmenters=1, threads=1, compare=False,
                 train="--lr 0.05 --checkpoint-every 10")
assert [m["total"] for m in run.metrics] == list(range(1, 81)), run
saved, own = run.checkpoint().model, net.state_dict()
assert all((own[k].numpy() == saved[k]).all() for k in own if k in saved), saved.keys()
assert saved.keys() >= {"fc.weight", "norm.running_mean"}
features = run.features
assert features.x.shape == (64, 16) and (features.ids == np.arange(64)).all()
assert (features.labels == foil.Dataset(data).labels).all()
assert (foil.Run(folder).metrics == run.metrics) and not run.results
# of all images in one batch
size = features.about["image_size"]
foil._output("foil-embed", "--raw", "--size", str(size), "-o", folder + "/raw.npy", data)
about = run.checkpoint().config["encoder"]
x = foil.features(folder + "/raw.npy").x.reshape(64, size, size, 3)
x = (x - np.float32(about["mean"])) / np.float32(about["deviation"])
with torch.no_grad():
    h = net.eval()(torch.from_numpy(x).permute(0, 3, 1, 2).contiguous()).numpy()
assert np.abs(h - features.x).max() < 1e-5 and h.std() > 0
print(run)
