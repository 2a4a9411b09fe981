#!/usr/bin/env python3
"""conv_peer.py f32|bf16 THREADS TIMES: for each shape on stdin, as
tests/bench/bench_conv.c names them, a line per pass: the shape, the pass, and
the shortest time of it with PyTorch in the faster of its two layouts, in ms, of
64 views: of the processor with one thread."""
import re
import sys
import time

import torch

VIEWS = 64
precision, threads, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(threads)
torch.manual_seed(1)
dtype = torch.bfloat16 if precision == 'bf16' else torch.float32
now = time.process_time if threads == 1 else time.perf_counter
FORM = re.compile(r'(\d+)(?:-(\d+))?@(\d+)(?:/(\d+))?(?:,(\d+))?')


def passes_of(name, layout):
    """The passes of a shape by name, each to be called."""
    c, out, side, stride, kernel = FORM.fullmatch(name).groups()
    c, side, stride = int(c), int(side), int(stride or 1)
    kernel = int(kernel or 3)
    x = torch.randn(VIEWS, c, side, side).to(dtype)
    w = torch.randn(int(out or c), c, kernel, kernel).to(dtype)
    x = x.to(memory_format=layout)
    w = w.to(memory_format=layout)
    pad = kernel // 2

    def forward():
        return torch.nn.functional.conv2d(x, w, None, stride, pad)

    dy = forward()

    def backward(*wanted):
        torch.ops.aten.convolution_backward(
            dy, x, w, None, [stride, stride], [pad, pad], [1, 1], False,
            [0, 0], 1, [*wanted, False])

    return {'forward': forward,
            'back_data': lambda: backward(True, False),
            'back_weights': lambda: backward(False, True)}


def shortest(run):
    """The shortest time of `times` runs and one before, in ms."""
    best = float('inf')
    run()
    for _ in range(times):
        start = now()
        run()
        best = min(best, now() - start)
    return best * 1e3


with torch.no_grad():
    for name in sys.stdin.read().split():
        layouts = [passes_of(name, layout) for layout in
                   (torch.contiguous_format, torch.channels_last)]
        for each in layouts[0]:
            ms = min(shortest(layout[each]) for layout in layouts)
            print(f'{name} {each} {ms:.2f}', flush=True)
