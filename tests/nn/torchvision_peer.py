#!/usr/bin/env python3
"""torchvision_peer.py FOLDER ARCH STEM HEIGHT WIDTH: load FOLDER's
model.safetensors into torchvision's ARCH with strict names, compute the
features of FOLDER's images, and compare them with FOLDER's features."""
import json
import os
import struct
import sys

import numpy as np
import torch
import torchvision

DTYPES = {'F32': np.float32, 'I64': np.int64}


def tensors(path):
    """The tensors of a safetensors file."""
    with open(path, 'rb') as file:
        length, = struct.unpack('<Q', file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    header.pop('__metadata__', None)
    return {name: torch.from_numpy(np.frombuffer(
        data[slice(*t['data_offsets'])],
        DTYPES[t['dtype']]).reshape(t['shape']).copy())
            for name, t in header.items()}


folder, arch, stem = sys.argv[1:4]
height, width = map(int, sys.argv[4:])
torch.set_num_threads(1)
model = getattr(torchvision.models, arch)()
model.fc = torch.nn.Identity()
if stem == 'small':
    model.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
    model.maxpool = torch.nn.Identity()
model.load_state_dict(tensors(os.path.join(folder, 'model.safetensors')))
model.eval()

pixels = np.fromfile(os.path.join(folder, 'images'), np.uint8)
want = np.fromfile(os.path.join(folder, 'features'), np.float32)
x = torch.from_numpy(pixels.reshape(-1, height, width, 3)).permute(0, 3, 1, 2)
x = torchvision.transforms.functional.normalize(
    x / 255, [.485, .456, .406], [.229, .224, .225])
with torch.no_grad():
    got = model(x).numpy()
off = np.abs(got - want.reshape(got.shape)).max() / np.sqrt((got ** 2).mean())
print(f'features differ by {off:.1e} of their rms')
sys.exit(int(off > 1e-4))
