#!/usr/bin/python3
"""Lengths of weights.  foil-eval follow -r RUN --eval-command 'python3 judge.py'"""
import json, sys
import numpy as np

for line in sys.stdin:
    _, step, checkpoint = line.rstrip("\n").split(" ", 2)
    with open(checkpoint + "/model.safetensors", "rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        body = file.read()
    lengths = {}
    for name, tensor in head.items():
        if tensor.get("dtype") == "F32":
            begin, end = tensor["data_offsets"]
            x = np.frombuffer(body[begin:end], "<f4")
            lengths[name] = float(np.linalg.norm(x))
    print(json.dumps({"lengths": lengths}))
    print("ok", flush=True)
