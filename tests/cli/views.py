"""views.py TOOL RUN RECORDING OPTION...: compares the views that `TOOL views` makes again
with the batches in a recording, as printed by `foil-tap -f -k batch show`.  Prints the
number of compared images."""
import json
import os
import subprocess
import sys

import numpy
from PIL import Image

CELL, GAP, RIM, ROWS = 96, 3, 12, 2  # of lib/data/sheet.c; rows of the sheet
tool, run, recording, *options = sys.argv[1:]


def tensors(line):
    """The tensors of a batch by name."""
    return {
        t["name"]: numpy.array(t["data"]).reshape(t["shape"])
        for t in line["tensors"]
    }


def sheet(total):
    path = os.path.join(os.environ["TMPDIR"], f"views-{os.getpid()}.png")
    subprocess.run(
        [tool, "views", "-o", path, "--step", str(total), "--rows", str(ROWS),
         *options, run], check=True, capture_output=True)
    with Image.open(path) as image:
        pixel = numpy.asarray(image.convert("RGB"))
    os.remove(path)
    return pixel


def cut(pixel, places, views, place, column, size):
    """A view of the sheet, in its own size."""
    zoom = CELL // size if size < CELL else 1
    cell, columns = zoom * size, -(-places // ROWS)
    x = RIM + place % columns * ((views + 1) * (cell + GAP) - GAP + RIM)
    y = RIM + place // columns * (cell + RIM)
    x += column * (cell + GAP)
    return pixel[y:y + cell:zoom, x:x + cell:zoom]


made = {}  # (epoch, step): the batch
for text in open(recording):
    line = json.loads(text)
    at = line["header"]["epoch"], line["header"]["step"]
    if line["kind"] == "batch" and not line["header"].get("encode_only"):
        made[at] = tensors(line)
compared = 0
for text in open(os.path.join(run, "metrics.jsonl")):
    step = json.loads(text)
    batch = made[step["epoch"], step["step"]]
    views, extra = batch["views"], batch.get("extra", [])
    count, n, size = views.shape[:3]
    pixel = sheet(step["total"])
    for i in range(n + len(extra)):
        these = views[:, i] if i < n else extra[i - n:i - n + 1]
        for v, view in enumerate(these):
            again = cut(pixel, n + len(extra), count, i, v + 1, size)
            assert (again == view).all(), (step["total"], i, v)
            compared += 1
print(compared)
