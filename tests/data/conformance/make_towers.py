#!/usr/bin/python3
"""make_towers.py DIR: the reference files of text towers and ViT.

Small random weights, one forward and one backward pass of L = sum z dz, in
double precision, with torch's own layers put together as the published
definitions describe: CLIP's text tower (open_clip's names), DistilBERT (Hugging
Face's), and torchvision's VisionTransformer.  Texts are padded here and
masked as these programs mask them.  Needs Debian's python3-torchvision.
"""

import json
import struct
import sys

import torch
import torchvision
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
LENGTHS = [2, 9, 3, 16, 5]


def write(path, metadata, tensors):
    """Writes a safetensors file."""
    names = {torch.float32: "F32", torch.int32: "I32", torch.uint8: "U8"}
    header, data = {"__metadata__": metadata}, b""
    for name, x in sorted(tensors.items(), key=lambda p: -p[1].element_size()):
        raw = x.contiguous().numpy().tobytes()
        header[name] = {
            "dtype": names[x.dtype],
            "shape": list(x.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


class Block(nn.Module):
    """CLIP's residual attention block."""

    def __init__(self, width, heads, quick):
        super().__init__()
        self.quick = quick
        self.ln_1 = nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict(
            {
                "c_fc": nn.Linear(width, 4 * width),
                "c_proj": nn.Linear(4 * width, width),
            }
        )

    def forward(self, x, mask):
        y = self.ln_1(x)
        x = x + self.attn(y, y, y, need_weights=False, attn_mask=mask)[0]
        y = self.mlp["c_fc"](self.ln_2(x))
        y = y * torch.sigmoid(1.702 * y) if self.quick else F.gelu(y)
        return x + self.mlp["c_proj"](y)


class Clip(nn.Module):
    """The text tower of CLIP; each row ends with its largest id."""

    def __init__(self, width, layers, heads, ids, context, dim, quick=False):
        super().__init__()
        self.token_embedding = nn.Embedding(ids, width)
        self.positional_embedding = nn.Parameter(torch.empty(context, width))
        self.transformer = nn.Module()
        self.transformer.resblocks = nn.ModuleList(
            Block(width, heads, quick) for _ in range(layers)
        )
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = nn.Parameter(torch.empty(width, dim))

    def forward(self, tokens, lengths):
        n = tokens.shape[1]
        mask = torch.full((n, n), -torch.inf).triu(1)
        x = self.token_embedding(tokens) + self.positional_embedding[:n]
        for block in self.transformer.resblocks:
            x = block(x, mask)
        x = self.ln_final(x)
        assert (tokens.argmax(1) == lengths - 1).all()
        x = x[torch.arange(len(x)), tokens.argmax(1)]
        return x @ self.text_projection


class Bow(nn.Module):
    """The mean of the token vectors, normalised."""

    def __init__(self, width, ids, dim):
        super().__init__()
        self.token_embedding = nn.Embedding(ids, width)
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = nn.Parameter(torch.empty(width, dim))

    def forward(self, tokens, lengths):
        there = torch.arange(tokens.shape[1]) < lengths[:, None]
        x = self.token_embedding(tokens) * there[:, :, None]
        x = self.ln_final(x.sum(1) / lengths[:, None])
        return x @ self.text_projection


class BertBlock(nn.Module):
    """A layer of DistilBERT."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        names = ("q_lin", "k_lin", "v_lin", "out_lin")
        self.attention = nn.ModuleDict(
            {name: nn.Linear(width, width) for name in names}
        )
        self.sa_layer_norm = nn.LayerNorm(width, eps=1e-12)
        self.ffn = nn.ModuleDict(
            {
                "lin1": nn.Linear(width, 4 * width),
                "lin2": nn.Linear(4 * width, width),
            }
        )
        self.output_layer_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, there):
        b, n, width = x.shape

        def part(name):
            y = self.attention[name](x)
            return y.view(b, n, self.heads, width // self.heads).transpose(1, 2)

        scores = part("q_lin") @ part("k_lin").transpose(2, 3)
        scores = scores / (width // self.heads) ** 0.5
        scores = scores.masked_fill(~there[:, None, None, :], -torch.inf)
        y = (scores.softmax(-1) @ part("v_lin")).transpose(1, 2)
        y = self.attention["out_lin"](y.reshape(b, n, width))
        x = self.sa_layer_norm(x + y)
        y = self.ffn["lin2"](F.gelu(self.ffn["lin1"](x)))
        return self.output_layer_norm(x + y)


class DistilBert(nn.Module):
    """DistilBERT and a projection of its first token."""

    def __init__(self, width, layers, heads, ids, context, dim):
        super().__init__()
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(ids, width),
                "position_embeddings": nn.Embedding(context, width),
                "LayerNorm": nn.LayerNorm(width, eps=1e-12),
            }
        )
        self.transformer = nn.Module()
        self.transformer.layer = nn.ModuleList(
            BertBlock(width, heads) for _ in range(layers)
        )
        self.text_projection = nn.Parameter(torch.empty(width, dim))

    def forward(self, tokens, lengths):
        place = torch.arange(tokens.shape[1])
        there = place < lengths[:, None]
        x = self.embeddings["word_embeddings"](tokens)
        x = x + self.embeddings["position_embeddings"](place)
        x = self.embeddings["LayerNorm"](x)
        for layer in self.transformer.layer:
            x = layer(x, there)
        return x[:, 0] @ self.text_projection


def vit(width, layers, heads, patch, side):
    """torchvision's, without its classifier."""
    net = torchvision.models.vision_transformer.VisionTransformer(
        side, patch, layers, heads, width, 4 * width
    )
    net.heads = nn.Identity()
    return net


def fill(net):
    """Weights of f32 that make scores and slopes matter."""
    for name, p in net.named_parameters():
        norm = name.endswith("weight") and p.dim() == 1
        x = torch.randn(p.shape) * (0.3 if p.dim() == 1 else 1.5)
        x = x if p.dim() == 1 else x * p[0].numel() ** -0.5
        p.data.copy_((x + norm).float())


def passes(net, *inputs):
    """One forward and one backward pass; all of it by name."""
    z = net(*inputs)
    dz = torch.randn(z.shape).float()
    (z * dz).sum().backward()
    found = {"z": z.detach(), "dz": dz}
    for name, p in net.named_parameters():
        found["param." + name] = p.detach()
        found["grad." + name] = p.grad
    return {name: x.float() for name, x in found.items()}


def texts(folder, name, arch, net, ids, context, **more):
    """A file of a text tower."""
    tokens = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.int32)
    for row, n in zip(tokens, LENGTHS):
        row[: n - 1] = torch.randint(0, ids - 1, (n - 1,))
        row[n - 1] = ids - 1
    lengths = torch.tensor(LENGTHS, dtype=torch.int32)
    fill(net)
    found = passes(net, tokens.long(), lengths.long())
    found.update(tokens=tokens, lengths=lengths)
    about = {"kind": "tower", "arch": arch, "head": "project:8"}
    about.update(vocabulary=str(ids), context=str(context), **more)
    write(f"{folder}/{name}.safetensors", about, found)


def main(folder):
    """Writes all files."""
    torch.manual_seed(1)
    texts(folder, "bow", "bow:16", Bow(16, 20, 8), 20, 16)
    net = Clip(16, 2, 2, 20, 18, 8)
    texts(folder, "clip_text", "clip:16x2x2", net, 20, 18)
    net = Clip(8, 1, 1, 20, 16, 8, quick=True)
    texts(folder, "clip_quick", "clip:8x1", net, 20, 16, quick_gelu="1")
    net = DistilBert(16, 2, 4, 20, 20, 8)
    texts(folder, "distilbert", "distilbert:16x2x4", net, 20, 20)
    net = vit(16, 2, 2, 4, 12)
    fill(net)
    images = torch.randint(0, 256, (3, 12, 12, 3), dtype=torch.uint8)
    mean, deviation = torch.tensor([0.5, 0.4, 0.3]), torch.tensor([0.2, 0.3, 0.4])
    x = (images / 255 - mean.float()) / deviation.float()
    found = passes(net, x.permute(0, 3, 1, 2).double())
    found.update(images=images, mean=mean.float(), deviation=deviation.float())
    about = {"kind": "tower", "arch": "vit:16x2x4x2", "head": "none"}
    write(f"{folder}/vit.safetensors", about, found)


if __name__ == "__main__":
    main(sys.argv[1])
