#!/usr/bin/env python3
"""Damage one tensor in a copy OUT of a safetensors file.

usage: damage.py FILE OUT TENSOR HOW
HOW: nan-first, nan-last, nan-but-last, nan-all, more (increases the largest number by
1e-4 of itself), plus-one (increments the first number)
"""
import json
import struct
import sys

source, out, tensor, how = sys.argv[1:]
with open(source, "rb") as file:
    raw = file.read()
n = 8 + struct.unpack("<Q", raw[:8])[0]
entry = json.loads(raw[8:n])[tensor]
start, end = (n + offset for offset in entry["data_offsets"])
form = {"F64": "d", "F32": "f", "I64": "q"}[entry["dtype"]]
form = f"<{(end - start) // struct.calcsize(form)}{form}"
x = list(struct.unpack(form, raw[start:end]))
largest = max(range(len(x)), key=lambda i: abs(x[i]))
places = {"nan-first": [0], "nan-last": [-1], "nan-all": range(len(x)),
          "nan-but-last": range(len(x) - 1)}
if how == "more":
    x[largest] *= 1 + 1e-4
elif how == "plus-one":
    x[0] += 1
else:
    for i in places[how]:
        x[i] = float("nan")
with open(out, "wb") as file:
    file.write(raw[:start] + struct.pack(form, *x) + raw[end:])
