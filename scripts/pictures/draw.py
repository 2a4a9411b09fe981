"""draw.py URL FOLDER: FOLDER/page.png, the top of an exported page of foil view, in 256
colours; and FOLDER/dataflow.svg."""
import base64
import io
import os
import sys

from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests"))
from browser import Browser  # noqa: E402

WIDTH, HEIGHT = 1320, 960
COLOURS = 256
url, folder = sys.argv[1:]

# A stage: its middle, its name, what it does.
STAGES = {
    "select": (90, 90, "foil-select", "plans batches"),
    "negatives": (290, 90, "foil-negatives", "weighs negatives; optional"),
    "augment": (490, 90, "foil-augment × k", "makes two views"),
    "train": (690, 90, "foil-train", "learns by contrast"),
    "saved": (880, 90, "run directory", "checkpoints, metrics"),
    "eval": (880, 190, "foil-embed, foil-eval", "judge checkpoints"),
    "view": (690, 190, "foil-view, foil-top", "show the run as it goes"),
}
# An edge: from, to, its words; rare ones are dashed.
EDGES = [
    ("select", "negatives", "items", False), ("negatives", "augment", "items", False),
    ("augment", "train", "views", False), ("train", "saved", "", False),
    ("saved", "eval", "", True), ("train", "view", "events", True),
]
# A bow over or under the stages: from, to, its words, its height.
BOWS = [("train", "select", "features of earlier epochs", 12),
        ("train", "negatives", "embeddings, and back: weights", 178)]
WIDE, HIGH = 160, 50

STYLE = """
  .box { fill: #fff; stroke: #8a97a6; stroke-width: 1.5 }
  .edge { fill: none; stroke: #8a97a6; stroke-width: 2 }
  .rare { stroke-dasharray: 4 4 }
  text { font: 11px "DejaVu Sans", sans-serif; fill: #566474; text-anchor: middle }
  .name { font-weight: bold; font-size: 13px; fill: #17202b }
  .dot { fill: #0072b2 }
  @media (prefers-color-scheme: dark) {
    .box { fill: #121821; stroke: #566474 } .edge { stroke: #566474 }
    text { fill: #93a1b3 } .name { fill: #e6ebf2 } .dot { fill: #56b4e9 }
  }"""


def draw_stage(x, y, name, words):
    return (f'<rect class="box" x="{x - WIDE / 2:g}" y="{y - HIGH / 2:g}" width="{WIDE}" '
            f'height="{HIGH}" rx="9"/><text class="name" x="{x}" y="{y - 4}">{name}</text>'
            f'<text x="{x}" y="{y + 13}">{words}</text>')


def draw_edge(start, end, words, rare):
    (x0, y0), (x1, y1) = STAGES[start][:2], STAGES[end][:2]
    if y0 == y1:
        x0, x1 = x0 + WIDE / 2, x1 - WIDE / 2
    else:
        y0, y1 = y0 + HIGH / 2, y1 - HIGH / 2
    line = (f'<path class="edge{" rare" if rare else ""}" d="M{x0:g} {y0:g}L{x1:g} {y1:g}" '
            'marker-end="url(#tip)"/>')
    if not rare:
        line += f'<circle class="dot" cx="{(x0 + x1) / 2 - 4:g}" cy="{y0:g}" r="4"/>'
    below = y0 == y1
    return line + f'<text x="{(x0 + x1) / 2 + (0 if below else 26):g}" ' \
        f'y="{(y0 + y1) / 2 + (-9 if below else 4):g}">{words}</text>'


def draw_bow(start, end, words, height):
    (x0, y0), (x1, _) = STAGES[start][:2], STAGES[end][:2]
    up = height < y0
    y, x0 = y0 + (-HIGH / 2 if up else HIGH / 2), x0 - 30
    return (f'<path class="edge rare" d="M{x0:g} {y:g}C{x0:g} {height:g} {x1:g} {height:g} {x1:g} {y:g}" '
            'marker-end="url(#tip)"/>'
            f'<text x="{(x0 + x1) / 2:g}" y="{height + (7 if up else 4):g}">{words}</text>')


def draw_dataflow(path):
    parts = [draw_bow(*bow) for bow in BOWS] + [draw_edge(*edge) for edge in EDGES] + \
        [draw_stage(*stage) for stage in STAGES.values()]
    with open(path, "w", encoding="utf-8") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 970 222" width="970" '
                   'role="img" aria-label="The stages of foil, and what they send each other">'
                   f"<style>{STYLE}</style>"
                   '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" '
                   'markerHeight="5" orient="auto"><path class="edge" d="M0 0L7 4L0 8"/>'
                   "</marker></defs>\n" + "\n".join(parts) + "\n</svg>\n")


def draw_page(path):
    with Browser(WIDTH, HEIGHT) as page:
        page.open(url)
        if not page.until("document.querySelectorAll('#anchor .bar').length", 60):
            sys.exit("draw.py: the page has no anchor")
        page.value("document.documentElement.style.colorScheme = 'light'")
        page.value("new Promise(done => setTimeout(done, 1500))")
        data = page.send("Page.captureScreenshot", format="png", clip={
            "x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1})["data"]
    image = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    image.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE) \
        .save(path, optimize=True)


draw_dataflow(f"{folder}/dataflow.svg")
draw_page(f"{folder}/page.png")
