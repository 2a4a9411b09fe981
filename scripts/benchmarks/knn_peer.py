#!/usr/bin/env python3
"""knn_peer.py WHO M N D K THREADS: seconds of the same search with PyTorch or
FAISS, which WHO names: torch, by blocks of 512 queries, or faiss, IndexFlatIP."""
import sys
import time

import numpy as np

who = sys.argv[1]
m, n, d, k, threads = map(int, sys.argv[2:])
rng = np.random.default_rng(1)


def rows(count):
    x = rng.standard_normal((count, d), 'f4')
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def search_torch():
    import torch
    torch.set_num_threads(threads)
    query, ref = torch.from_numpy(rows(m)), torch.from_numpy(rows(n))
    start = time.perf_counter()
    for block in query.split(512):
        score = block @ ref.T
        if k == 1:
            score.max(1)
        else:
            score.topk(k)
    return time.perf_counter() - start


def search_faiss():
    import faiss
    faiss.omp_set_num_threads(threads)
    query, ref = rows(m), rows(n)
    start = time.perf_counter()
    index = faiss.IndexFlatIP(d)
    index.add(ref)
    index.search(query, k)
    return time.perf_counter() - start


print(f'{(search_torch if who == "torch" else search_faiss)():.4f}')
