#!/usr/bin/env python3
"""knn_peer.py WHO M N D K THREADS: seconds of the same search, of the processor
with one thread, with PyTorch or FAISS, which WHO names: torch, by blocks of 512
queries, or faiss, IndexFlatIP."""
import sys
import time

import numpy as np

who = sys.argv[1]
m, n, d, k, threads = map(int, sys.argv[2:])
now = time.process_time if threads == 1 else time.perf_counter
rng = np.random.default_rng(1)


def rows(count):
    x = rng.standard_normal((count, d), 'f4')
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def search_torch():
    import torch
    torch.set_num_threads(threads)
    query, ref = torch.from_numpy(rows(m)), torch.from_numpy(rows(n))
    start = now()
    for block in query.split(512):
        score = block @ ref.T
        if k == 1:
            score.max(1)
        else:
            score.topk(k)
    return now() - start


def search_faiss():
    import faiss
    faiss.omp_set_num_threads(threads)
    query, ref = rows(m), rows(n)
    start = now()
    index = faiss.IndexFlatIP(d)
    index.add(ref)
    index.search(query, k)
    return now() - start


print(f'{(search_torch if who == "torch" else search_faiss)():.4f}')
