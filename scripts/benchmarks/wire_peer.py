#!/usr/bin/python3
"""The round trip of tests/bench/bench_wire.c in Python: pyzmq and msgpack.

usage: wire_peer.py N       prints the median in microseconds
"""
import os
import statistics
import sys
import tempfile
import time

import msgpack
import zmq

n = int(sys.argv[1])
folder = tempfile.mkdtemp(prefix="foil-bench-")
endpoint = f"ipc://{folder}/batch"
tensors = [["ids", "i8", [32]], ["views", "u1", [2, 32, 32, 32, 3]]]
pid = os.fork()
socket = zmq.Context().socket(zmq.ROUTER if pid else zmq.DEALER)
if not pid:
    socket.connect(endpoint)
    socket.send_multipart([b"foil3.hello", msgpack.packb({})])
    views, ids = bytes(2 * 32 * 32 * 32 * 3), bytes(8 * 32)
    while True:
        kind, head = socket.recv_multipart()
        at = msgpack.unpackb(head)
        head = {"session": at["session"], "epoch": 0, "step": 0, "steps": 1,
                "epochs": 1, "height": 32, "width": 32, "channels": 3,
                "rejected": 0, "tensors": tensors}
        socket.send_multipart([b"foil3.batch", msgpack.packb(head), ids,
                               bytearray(views)])
socket.bind(endpoint)
peer = socket.recv_multipart()[0]
times = []
for step in range(n):
    start = time.perf_counter()
    head = {"session": 1, "epoch": 0, "step": step, "serial": 1,
            "window": 1}
    socket.send_multipart([peer, b"foil3.want", msgpack.packb(head)])
    _, kind, head, ids, views = socket.recv_multipart()
    msgpack.unpackb(head)
    times.append(time.perf_counter() - start)
os.kill(pid, 9)
os.waitpid(pid, 0)
os.unlink(endpoint[6:])
os.rmdir(folder)
print(f"{statistics.median(times) * 1e6:.1f}")
