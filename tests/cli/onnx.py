"""onnx.py MODEL RAW.npy FEATURES.npy: runs an ONNX model with an independent reader and
numpy, in double, on the images of RAW.npy (pixels / 255, [n, height, width, 3] as rows).
Prints the largest difference from FEATURES.npy relative to its largest number; --types
prints the kinds of nodes."""
import struct
import sys

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def fields(data):
    """The fields of a Protocol Buffers message: number -> list of values."""
    at, found = 0, {}

    def varint():
        nonlocal at
        x = shift = 0
        while True:
            byte = data[at]
            at += 1
            x |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return x - (1 << 64) if x >> 63 else x
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            value = varint()
        elif key & 7 == 2:
            n = varint()
            value, at = data[at:at + n], at + n
        elif key & 7 == 5:
            value, at = struct.unpack("<f", data[at:at + 4])[0], at + 4
        else:
            raise ValueError(f"wire type {key & 7}")
        assert at <= len(data)
        found.setdefault(key >> 3, []).append(value)
    return found


def text(values):
    return [value.decode() for value in values]


def tensor(data):
    t = fields(data)
    assert t[2] == [1]  # FLOAT
    x = np.frombuffer(t[9][0], "<f4").reshape(t.get(1, []))
    return text(t[8])[0], x.astype("f8")


def attributes(node):
    found = {}
    for data in node.get(5, []):
        a = fields(data)
        found[text(a[1])[0]] = {1: lambda: a[2][0], 2: lambda: a[3][0],
                                7: lambda: a[8]}[a[20][0]]()
    return found


def windows(x, size, strides, pads, filler):
    """[n, channels, rows, columns, *size]: the inputs of each output."""
    assert pads[:2] == pads[2:]
    (top, left), (down, right) = pads[:2], strides
    x = np.pad(x, ((0, 0), (0, 0), (top, top), (left, left)),
               constant_values=filler)
    return sliding_window_view(x, size, (2, 3))[:, :, ::down, ::right]


def convolve(x, w, b=None, kernel_shape=None, strides=None, pads=None):
    assert kernel_shape == list(w.shape[2:])
    y = np.tensordot(windows(x, kernel_shape, strides, pads, 0), w,
                     ((1, 4, 5), (1, 2, 3)))
    return (y if b is None else y + b).transpose(0, 3, 1, 2)


def pool(x, kernel_shape, strides, pads):
    return windows(x, kernel_shape, strides, pads, -np.inf).max((4, 5))


def normalise(x, scale, shift, mean, var, epsilon):
    scale = scale / np.sqrt(var + epsilon)
    return x * scale[:, None, None] + (shift - mean * scale)[:, None, None]


RUN = {
    "Sub": lambda x, y: x - y,
    "Div": lambda x, y: x / y,
    "Add": lambda x, y: x + y,
    "Relu": lambda x: np.maximum(x, 0),
    "Identity": lambda x: x,
    "Conv": convolve,
    "MaxPool": pool,
    "GlobalAveragePool": lambda x: x.mean((2, 3), keepdims=True),
    "Flatten": lambda x: x.reshape(len(x), -1),
    "BatchNormalization": normalise,
}


def info(data):
    """Name and shape of an input or output."""
    value = fields(data)
    kind = fields(fields(value[2][0])[1][0])
    assert kind[1] == [1]
    dims = [fields(d) for d in fields(kind[2][0])[1]]
    return text(value[1])[0], [d[1][0] if 1 in d else text(d[2])[0]
                               for d in dims]


def main():
    model = fields(open(sys.argv[-3], "rb").read())
    graph = fields(model[7][0])
    assert model[1] == [8] and fields(model[8][0])[2] == [17]
    values = dict(tensor(data) for data in graph[5])
    (name, shape), = map(info, graph[11])
    assert name == "image" and shape[:2] == ["N", 3]
    raw = np.load(sys.argv[-2]).reshape(-1, shape[2], shape[3], 3)
    values[name] = raw.astype("f8").transpose(0, 3, 1, 2)
    types = set()
    for data in graph[1]:
        node = fields(data)
        kind, = text(node[4])
        types.add(kind)
        out, = text(node[2])
        assert out not in values, out
        values[out] = RUN[kind](*[values[i] for i in text(node[1])],
                                **attributes(node))
    if "--types" in sys.argv:
        print(*sorted(types))
    (name, shape), = map(info, graph[12])
    want = np.load(sys.argv[-1]).astype("f8")
    got = values[name]
    assert shape == ["N", want.shape[1]] and got.shape == want.shape
    print(np.abs(got - want).max() / np.abs(want).max())


main()
