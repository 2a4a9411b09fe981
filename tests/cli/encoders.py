"""Encoders in PyTorch for tests, by foil.encode().  usage: encoders.py KIND NAME=VALUE...

  linear    as foil-train's without a head, for --size 8 and --hidden 16
  resnet20  as foil-train's with --head 32-16
  towers    linear with a projection, and bow:16 for texts
  head      linear with a head of its own; wide=1: with one more layer
  dropout   linear with dropout, and an optimiser with two groups
  weighed   linear with the loss of emc2, with weights from the batch, at tau=T

DEVICE=cuda computes on a GPU, in full float32, so that losses can be compared.
"""
import os
import pathlib
import signal
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "pipelines/python"))
import foil

nn = torch.nn
torch.set_num_threads(1)
torch.manual_seed(0)


class Linear(nn.Module):
    def __init__(self, drop=0.0):
        super().__init__()
        self.fc, self.drop = nn.Linear(3 * 8 * 8, 16), drop

    def forward(self, x):
        return nn.functional.dropout(self.fc(x.flatten(1)), self.drop,
                                     self.training and self.drop > 0)


class Block(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        if before != width:
            self.downsample = nn.Sequential(
                nn.Conv2d(before, width, 1, stride, bias=False),
                nn.BatchNorm2d(width))

    def forward(self, x):
        y = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return (y + getattr(self, "downsample", lambda x: x)(x)).relu()


class ResNet(nn.Module):
    def __init__(self, blocks=3):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        for k in range(3):
            before, width = max(16, 8 << k), 16 << k
            setattr(self, f"layer{k + 1}", nn.Sequential(*(
                Block(width if i else before, width, 1 if i or not k else 2)
                for i in range(blocks))))

    def forward(self, x):
        x = self.bn1(self.conv1(x)).relu()
        return self.layer3(self.layer2(self.layer1(x))).mean((2, 3))


class Bow(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.token_embedding = nn.Embedding(vocabulary, 16)
        self.ln_final = nn.LayerNorm(16)
        self.text_projection = nn.Parameter(torch.randn(16, 16) / 4)

    def forward(self, tokens, lengths):
        there = torch.arange(tokens.shape[1], device=tokens.device) < \
            lengths[:, None]
        x = (self.token_embedding(tokens) * there[:, :, None]).sum(1)
        return self.ln_final(x / lengths[:, None]) @ self.text_projection


def begin(head):
    """Loads the head of the checkpoint begin=RUN."""
    head.load_state_dict({
        name.removeprefix("head."): torch.from_numpy(x.copy())
        for name, x in foil.checkpoint(options["begin"]).head.items()})


def signalled(number):
    """A hook that sends this process a signal in its third backward pass."""
    def at_third(grad):
        steps[0] += 1
        if steps[0] == 3:
            os.kill(os.getpid(), number)
    return at_third


kind, *words = sys.argv[1:]
options = dict(w.split("=", 1) for w in words)
more = {k: int(options[k]) for k in ("ranks", "sums") if k in options}
more["device"] = os.environ.get("DEVICE", "cpu")
torch.backends.cudnn.allow_tf32 = False
net, head, steps = Linear(), None, [0]
print("what a program prints is harmless")
if kind == "resnet20":
    net = ResNet()
    head = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16))
    begin(head)
elif kind == "head":
    head = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 8))
    if "wide" in options:
        net = nn.Sequential(net, nn.Linear(16, 24))
        head = nn.Linear(24, 8)
elif kind == "towers":
    more["text"] = Bow(int(options["vocabulary"]))
    head = nn.Sequential()
    head.proj = nn.Linear(16, 16, bias=False)
    begin(head)
elif kind == "dropout":
    net = Linear(0.3)
    more["optim"] = torch.optim.Adam(
        [{"params": [net.fc.weight], "lr": 1}, {"params": [net.fc.bias], "lr": 2}])
elif kind == "weighed":
    def loss(z, batch):
        v, n = nn.functional.normalize(z, dim=1), 2 * batch.samples
        s = v[:n] @ v.T
        partners = s[torch.arange(n), torch.arange(n).roll(n // 2)]
        drawn = (batch.weights * s).sum(1)
        each = batch.scale[:, 1] * drawn - batch.scale[:, 0] * partners
        return each.mean() / float(options["tau"]), {"drawn": drawn.mean()}
    more["loss"] = loss
for word, number in ("dies", signal.SIGKILL), ("stops", signal.SIGSTOP):
    if options.get(word) == os.environ.get("RANK", "0"):
        net.fc.weight.register_hook(signalled(number))
if "nan" in options:  # the third gradient
    def not_finite(grad):
        steps[0] += 1
        return grad * (float("nan") if steps[0] == 3 else 1)
    next(net.parameters()).register_hook(not_finite)
foil.encode(net, head, **more)
