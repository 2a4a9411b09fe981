"""usage: folders.py RUN...: compares encoders of foil-embed --export DIR/ in PyTorch, and
in timm if it is installed, with the features of foil-embed.  Reads raw.npy, RUN.npy and
RUN.d."""
import json
import sys

import numpy as np
import torch

try:
    import timm
except ImportError:
    timm = None
torch.set_num_threads(1)
raw = np.load("raw.npy").reshape(-1, 32, 32, 3)
for run in sys.argv[1:]:
    with open(run + ".d/config.json") as f:
        config = json.load(f)
    mean, deviation = (np.array(config["foil"][k], "f4") for k in ("mean", "deviation"))
    x = torch.from_numpy(((raw - mean) / deviation).transpose(0, 3, 1, 2).copy())
    nets = [torch.hub.load(run + ".d", "encoder", source="local")]
    if timm and "architecture" in config:
        nets.append(timm.create_model(f"local-dir:{run}.d", pretrained=True).eval())
    want = np.load(run + ".npy")
    for net in nets:
        with torch.no_grad():
            off = np.abs(net(x).numpy() - want).max() / np.abs(want).max()
        print(run, type(net).__module__, "off by", off)
        assert off < 1e-5
