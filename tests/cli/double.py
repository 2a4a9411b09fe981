#!/usr/bin/env python3
"""Double the weights of a linear encoder: fc.* in model.safetensors of a checkpoint,
whose manifest gets their digest.

usage: double.py CHECKPOINT
"""
import ctypes
import json
import re
import struct
import sys

folder = sys.argv[1]


class Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_128bits
xxh3.argtypes, xxh3.restype = (ctypes.c_char_p, ctypes.c_size_t), Hash


def digest(data):
    got = xxh3(data, len(data))
    return f"{got.high:016x}{got.low:016x}"


with open(f"{folder}/model.safetensors", "rb") as file:
    model = file.read()
n = 8 + struct.unpack("<Q", model[:8])[0]
for name, entry in json.loads(model[8:n]).items():
    if name.startswith("fc."):
        start, end = (n + offset for offset in entry["data_offsets"])
        form = f"<{(end - start) // 4}f"
        x = (2 * w for w in struct.unpack(form, model[start:end]))
        model = model[:start] + struct.pack(form, *x) + model[end:]
with open(f"{folder}/model.safetensors", "wb") as file:
    file.write(model)
with open(f"{folder}/MANIFEST.json", encoding="utf-8") as file:
    manifest = re.sub(',"self":"[^"]*"', "", file.read())
manifest = re.sub('("model.safetensors":{"size":[0-9]*,"digest":)"[^"]*"',
                  rf'\1"{digest(model)}"', manifest)
own = digest(manifest.encode())
with open(f"{folder}/MANIFEST.json", "w", encoding="utf-8") as file:
    file.write(re.sub("}\n?$", f',"self":"{own}"}}\n', manifest))
