#!/usr/bin/env python3
"""text_peer.py ARCH train|features ROWS THREADS STEPS: the shortest time of a
step with PyTorch, in ms, the peak memory, in MB, and its version.  The same work
as tests/bench/bench_text.c, with rows padded to the longest and masked, by the
towers of tests/data/conformance/make_towers.py."""
import pathlib
import resource
import sys
import time

import torch

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here / '../../tests/data/conformance'))
import make_towers  # noqa: E402

IDS, CONTEXT, LEAST, MOST, DIM = 4096, 32, 3, 15, 128
arch, mode, _, rows, threads, steps = sys.argv[1:]
rows = int(rows)
torch.set_default_dtype(torch.float32)
torch.set_num_threads(int(threads))
torch.manual_seed(1)

name, _, sizes = arch.partition(':')
sizes = [int(x) for x in sizes.split('x') if x]
if name == 'bow':
    net = make_towers.Bow(sizes[0], IDS, DIM)
else:
    if not sizes:
        sizes = [768, 6, 12]
    if len(sizes) == 2:
        sizes.append(max(1, sizes[0] // 64))
    kind = {'clip': make_towers.Clip, 'distilbert': make_towers.DistilBert}
    net = kind[name](*sizes, IDS, CONTEXT, DIM)
make_towers.fill(net)
lengths = LEAST + torch.arange(rows) % (MOST - LEAST + 1)
tokens = torch.randint(0, IDS - 1, (rows, MOST))
tokens[torch.arange(MOST) >= lengths[:, None]] = 0
tokens[torch.arange(rows), lengths - 1] = IDS - 1
dz = torch.randn(rows, DIM)
optim = torch.optim.AdamW(net.parameters(), lr=1e-4, weight_decay=0.05)


def train_step():
    """Forward, backward of a fixed gradient, AdamW."""
    optim.zero_grad(set_to_none=True)
    net(tokens, lengths).backward(dz)
    optim.step()


def features_step():
    """Forward only."""
    with torch.no_grad():
        net(tokens, lengths)


if mode == 'features':
    net.eval()
step = train_step if mode == 'train' else features_step
# as tests/bench/shortest.h
now = time.process_time if threads == '1' else time.perf_counter
times = []
for _ in range(int(steps) + 1):
    start = now()
    step()
    times.append((now() - start) * 1e3)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f'{min(times[1:]):.2f} {peak:.0f} torch-{torch.__version__}')
