#!/usr/bin/env python3
"""knn_peer.py M N D K THREADS: seconds of the same search with PyTorch."""
import sys
import time

import torch

m, n, d, k, threads = map(int, sys.argv[1:])
torch.set_num_threads(threads)
torch.manual_seed(1)
query = torch.nn.functional.normalize(torch.randn(m, d))
ref = torch.nn.functional.normalize(torch.randn(n, d))
start = time.perf_counter()
for block in query.split(512):
    score = block @ ref.T
    if k == 1:
        score.max(1)
    else:
        score.topk(k)
print(f'{time.perf_counter() - start:.4f}')
