"""The encoder of this folder in PyTorch, made by foil-embed --export:

    net = torch.hub.load(FOLDER, "encoder", source="local")
    features = net(prepare(image)[None])    # prepare: of the same call, "prepare"

It is an ordinary module with trained weights, in evaluation mode: net.train() and an
optimiser continue its training.  It needs only PyTorch; prepare() needs torchvision.
"""
import json
import os
import struct

import torch
from torch import nn

dependencies = ["torch"]
_folder = os.path.dirname(os.path.abspath(__file__))
_blocks = {"resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3),
           "resnet50": (3, 4, 6, 3), "resnet8": (1, 1, 1), "resnet20": (3, 3, 3)}


def _about():
    with open(os.path.join(_folder, "config.json")) as f:
        return json.load(f)["foil"]


def _tensors(path):
    with open(path, "rb") as f:
        head = json.loads(f.read(*struct.unpack("<Q", f.read(8))))
        data = bytearray(f.read())
    head.pop("__metadata__", None)
    return {name: torch.frombuffer(data, dtype=torch.float32, offset=a["data_offsets"][0],
                                   count=(a["data_offsets"][1] - a["data_offsets"][0]) // 4)
            .reshape(a["shape"]) for name, a in head.items()}


def _norm(kind, n):
    if kind == "none":
        return nn.Identity()
    if kind == "batch":
        return nn.BatchNorm2d(n)
    return nn.GroupNorm(next(g for g in range(min(32, n), 0, -1) if n % g == 0), n)


class _Block(nn.Module):
    def __init__(self, before, width, out, stride, norm):
        super().__init__()
        bias, deep = norm == "none", out != width
        shape = [(before, width, 1), (width, width, 3), (width, out, 1)] if deep else \
            [(before, width, 3), (width, out, 3)]
        for i, (a, b, size) in enumerate(shape, 1):
            step = stride if i == (2 if deep else 1) else 1
            setattr(self, f"conv{i}", nn.Conv2d(a, b, size, step, size // 2, bias=bias))
            setattr(self, f"bn{i}", _norm(norm, b))
        self.parts, self.downsample = len(shape), None
        if stride != 1 or before != out:
            self.downsample = nn.Sequential(
                nn.Conv2d(before, out, 1, stride, bias=bias), _norm(norm, out))

    def forward(self, x):
        y = x
        for i in range(1, self.parts + 1):
            y = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(y))
            y = y.relu() if i < self.parts else y
        return (y + (x if self.downsample is None else self.downsample(x))).relu()


class _ResNet(nn.Module):
    """With torchvision's names, without fc; of any width, with either stem."""

    def __init__(self, o):
        super().__init__()
        blocks, large = _blocks[o["arch"]], o["stem"] == "imagenet"
        width = o["width"] or (64 if len(blocks) == 4 else 16)
        self.conv1 = nn.Conv2d(o["channels"], width, 7 if large else 3, 2 if large else 1,
                               3 if large else 1, bias=o["norm"] == "none")
        self.bn1 = _norm(o["norm"], width)
        self.maxpool = nn.MaxPool2d(3, 2, 1) if large else nn.Identity()
        before, self.stages = width, len(blocks)
        for s, n in enumerate(blocks):
            layer, wide = [], width << s
            out = wide * 4 if o["arch"] == "resnet50" else wide
            for i in range(n):
                layer.append(_Block(before, wide, out, 2 if s and not i else 1, o["norm"]))
                before = out
            setattr(self, f"layer{s + 1}", nn.Sequential(*layer))

    def forward(self, x):
        x = self.maxpool(self.bn1(self.conv1(x)).relu())
        for s in range(self.stages):
            x = getattr(self, f"layer{s + 1}")(x)
        return x.mean((2, 3))


class _Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = (nn.LayerNorm(width, 1e-6) for _ in range(2))
        self.attn, self.mlp = nn.Module(), nn.Module()
        self.attn.qkv, self.attn.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp.fc1, self.mlp.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads = heads

    def forward(self, x):
        b, n, w = x.shape
        q, k, v = self.attn.qkv(self.norm1(x)).reshape(
            b, n, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(2, 3) * (w // self.heads) ** -0.5).softmax(3) @ v
        x = x + self.attn.proj(a.transpose(1, 2).reshape(b, n, w))
        return x + self.mlp.fc2(nn.functional.gelu(self.mlp.fc1(self.norm2(x))))


class _ViT(nn.Module):
    """With timm's names."""

    def __init__(self, o):
        super().__init__()
        a = o["sizes"]
        self.patch_embed = nn.Module()
        self.patch_embed.proj = nn.Conv2d(o["channels"], a["width"], a["patch"], a["patch"])
        n = (o["height"] // a["patch"]) * (o["image_width"] // a["patch"])
        self.cls_token = nn.Parameter(torch.zeros(1, 1, a["width"]))
        self.pos_embed = nn.Parameter(torch.zeros(1, n + 1, a["width"]))
        self.blocks = nn.Sequential(*(_Layer(a["width"], a["heads"])
                                      for _ in range(a["layers"])))
        self.norm = nn.LayerNorm(a["width"], 1e-6)

    def forward(self, x):
        x = self.patch_embed.proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], 1) + self.pos_embed
        return self.norm(self.blocks(x)[:, 0])


class _Linear(nn.Module):
    """linear and mlp, of all pixels."""

    def __init__(self, tensors):
        super().__init__()
        self.names = sorted({name.split(".")[0] for name in tensors})
        for name in self.names:
            out, n = tensors[name + ".weight"].shape
            setattr(self, name, nn.Linear(n, out))

    def forward(self, x):
        x = x.flatten(1)
        for name in self.names:
            x = getattr(self, name)(x.relu() if name == "fc2" else x)
        return x


def encoder():
    """The encoder: f4 [n,channels,height,width], normalised, to features [n,d]."""
    o, tensors = _about(), _tensors(os.path.join(_folder, "model.safetensors"))
    net = _ResNet(o) if o["arch"] in _blocks else _ViT(o) if o["arch"][:4] == "vit:" \
        else _Linear(tensors)
    missing, left = net.load_state_dict(tensors, strict=False)
    missing = [name for name in missing if "num_batches_tracked" not in name]
    if missing or left:
        raise ValueError(f"{o['arch']}: tensors {missing} are missing, {left} too many")
    return net.eval()


def prepare():
    """Returns a transform from a PIL image to the encoder's input."""
    from torchvision import transforms as t
    o = _about()
    size = [o["height"], o["image_width"]]
    return t.Compose([t.Lambda(lambda image: image.convert("RGB" if o["channels"] == 3 else "L")),
                      t.Resize(min(size)), t.CenterCrop(size), t.ToTensor(),
                      t.Normalize(o["mean"][:o["channels"]], o["deviation"][:o["channels"]])])
