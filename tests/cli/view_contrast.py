"""view_contrast.py MODULE: compares what the page of foil-view computes from embeddings, in
a browser, with the same computed here; TAP on stdout."""
import base64
import json
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from browser import Browser, ok, plan  # noqa: E402


def make_batch(n, views, d, labels=None, texts=False):
    """A batch of random unit rows; the last two rows are of the same image."""
    rng = random.Random(f"{n} {views} {d}")
    rows = []
    for _ in range(views * n):
        row = [rng.gauss(0, 1) for _ in range(d)]
        length = math.sqrt(sum(x * x for x in row))
        rows.append([x / length for x in row])
    ids = [10 * i for i in range(n)]
    if n > 1:
        ids[-1] = ids[-2]
    return {"epoch": 3, "step": 5, "ids": ids, "views": views, "rows": rows,
            "labels": labels or [-1] * n, **({"texts": ["a text"] * n} if texts else {})}


def call(function, batch, *arguments):
    """Calls a function of the module with a batch, with its rows as z."""
    z = [x for row in batch["rows"] for x in row]
    members = json.dumps({name: value for name, value in batch.items() if name != "rows"})
    more = "".join(", " + json.dumps(argument) for argument in arguments)
    return page.value(f"contrast.{function}({{ ...{members}, z: Float32Array.from({z}) }}{more})")


def anchor_of(batch, row, beta, drawn=None, trail=()):
    return call("describeAnchor", batch, row, beta, {"drawn": drawn, "trail": list(trail)})


def cosine_of(batch, row, other):
    return sum(a * b for a, b in zip(batch["rows"][row], batch["rows"][other]))


def weigh(batch, row, beta):
    """The softmax over the negatives of a row: {row: weight}."""
    n, ids = len(batch["ids"]), batch["ids"]
    weights = {c: math.exp(beta * cosine_of(batch, row, c)) for c in range(batch["views"] * n)
               if ids[c % n] != ids[row % n] and ("texts" not in batch or c // n != row // n)}
    return {c: weight / sum(weights.values()) for c, weight in weights.items()}


def is_near(a, b, bound=2e-5):
    return abs(a - b) <= bound * max(1e-3, abs(b))


def check_pairs(n, views):
    batch = make_batch(n, views, 8, [i % 3 for i in range(n)])
    ids, second = batch["ids"], n if views > 1 else 0
    full = call("describeBatch", batch)
    want = sorted(((max(cosine_of(batch, i, second + j), cosine_of(batch, j, second + i)), i, j)
                   for i in range(n) for j in range(i + 1, n) if ids[i] != ids[j]), reverse=True)
    ok(f"{n} images, {views} views: the most similar pairs", len(full["pairs"]) ==
       min(24, len(want)) and all(
           pair[:2] == [i, j] and is_near(pair[2], cosine) and pair[3] == (i % 3 == j % 3)
           for pair, (cosine, i, j) in zip(full["pairs"], want)), full["pairs"])
    matrix = [full["cosines"][str(k)] for k in range(n * n)]
    ok("all cosines", all(abs(matrix[i * n + j] - cosine_of(batch, i, second + j)) < 1e-6
                              for i in range(n) for j in range(n)))
    same = sum(i % 3 == j % 3 for i in range(n) for j in range(i)) / (n * (n - 1) / 2)
    ok("the share of pairs of the same class", is_near(full["same"], same), full["same"])


def check_weights(batch, row, beta, what):
    weights, n = weigh(batch, row, beta), len(batch["ids"])
    anchor = anchor_of(batch, row, beta)
    heaviest = sorted(weights, key=weights.get, reverse=True)[:14]
    ok(f"{what}: the heaviest negatives by the softmax", [
        negative["view"] * n + negative["column"] for negative in anchor["negatives"]] == heaviest
       and all(is_near(negative["weight"], weights[c]) and is_near(
           negative["cosine"], cosine_of(batch, row, c)) and not negative["same"]
           and negative["id"] == batch["ids"][c % n]
           for negative, c in zip(anchor["negatives"], heaviest)), anchor["negatives"])
    ok(f"{what}: their share, and the effective number", is_near(
        anchor["mass"]["shown"], sum(weights[c] for c in heaviest)) and is_near(
            anchor["mass"]["effective"], 1 / sum(w * w for w in weights.values())),
       anchor["mass"])
    counts = [0] * 40
    for c in weights:
        counts[int((cosine_of(batch, row, c) + 1) * 20)] += 1
    ok(f"{what}: the histogram of all negatives", anchor["histogram"] == counts,
       anchor["histogram"])
    return anchor


def check_equal_rows(n):
    """Orthogonal rows, the same in both views, have closed forms."""
    batch = make_batch(n, 2, n, [0, 0] + [1] * (n - 2))
    batch["ids"] = list(range(n))
    batch["rows"] = [[float(i % n == k) for k in range(n)] for i in range(2 * n)]
    anchor, full = anchor_of(batch, 1, 7), call("describeBatch", batch)
    ok("orthogonal rows: all negatives have the same weight", is_near(
        anchor["mass"]["effective"], 2 * (n - 1)) and is_near(
            anchor["mass"]["shown"], 14 / (2 * (n - 1))) and is_near(
                anchor["mass"]["same"], 1 / (n - 1)), anchor["mass"])
    ok("a cosine of 0, and 1 with the other view", anchor["histogram"][20] == 2 * (n - 1)
       and anchor["own"] == 1 and full["own"] == [1] * n, anchor["histogram"])
    ok("the first ones are listed, those of the same class marked",
       [(a["view"], a["column"], a["same"]) for a in anchor["negatives"]][:3] ==
       [(0, 0, True), (0, 2, False), (0, 3, False)], anchor["negatives"][:3])


def check_edges():
    one = make_batch(1, 2, 4)
    full, anchor = call("describeBatch", one), anchor_of(one, 1, 5)
    ok("one image: no pairs and no share of the same class",
       full["pairs"] == [] and full["same"] is None and len(full["own"]) == 1, full)
    ok("one image: no negatives and no weight", anchor["negatives"] == [] and
       anchor["mass"] == {"shown": 0, "same": None, "effective": 0} and
       anchor["histogram"] == [0] * 40, anchor)
    same = make_batch(2, 1, 3)
    anchor = anchor_of(same, 1, 5)
    ok("two places of the same image are not negatives",
       anchor["negatives"] == [] and call("describeBatch", same)["pairs"] == [], anchor)
    ok("with one view, the cosine with the other view is 1", anchor["own"] == 1)
    sharp = anchor_of(make_batch(20, 2, 6), 3, 5000)
    ok("negatives of weight 0 are in the histogram", sum(sharp["histogram"]) == 38 and
       len(sharp["negatives"]) < 14 and is_near(sharp["mass"]["shown"], 1), sharp["mass"])


def check_drawn():
    """A negative in the batch, one outside, and a feature without an image."""
    batch = make_batch(8, 2, 8, [0, 1] * 4)
    drawn = [{"id": 0, "label": 0, "view": 0, "epoch": 3, "weight": .5, "cosine": .25, "row": 0},
             {"id": 77, "label": 1, "view": 1, "epoch": 2, "weight": .25, "cosine": .5,
              "row": None},
             {"id": -1, "label": -1, "view": -1, "epoch": -1, "weight": .125, "cosine": 0,
              "row": None}]
    trail = [{"epoch": 2, "step": 1, "effective": 2.5, "states": [{**drawn[1]}, {**drawn[0]}]}]
    anchor = anchor_of(batch, 1, 5, {"sampler": "emc2 1", "negatives": drawn}, trail)
    softmax = [one["softmax"] for one in anchor["drawn"]["negatives"]]
    ok("negatives of a sampler have their softmax if they are in the batch",
       is_near(softmax[0], weigh(batch, 1, 5)[0]) and softmax[1:] == [None, None], softmax)
    ok("the same class is marked", [one["same"] for one in anchor["drawn"]["negatives"]] ==
       [False, True, False] and anchor["drawn"]["sampler"] == "emc2 1", anchor["drawn"])
    ok("in the trail, too", [state["same"] for state in anchor["trail"][0]["states"]] ==
       [True, False] and anchor["trail"][0]["effective"] == 2.5, anchor["trail"])
    ok("without a sampler: null", anchor_of(batch, 1, 5)["drawn"] is None)


with Browser() as page, open(sys.argv[1], "rb") as module:
    address = "data:text/javascript;base64," + base64.b64encode(module.read()).decode()
    page.value(f"import('{address}').then(all => {{ window.contrast = all }})")
    for n, views in (3, 2), (8, 2), (61, 2), (60, 1):
        check_pairs(n, views)
    for beta in 5, 14.28:
        check_weights(make_batch(20, 2, 6), 23, beta, f"beta {beta}")
    check_weights(make_batch(20, 1, 6), 3, 5, "one view")
    texts = make_batch(10, 2, 6, texts=True)
    ok("the negatives of an image are texts", {negative["view"] for negative in check_weights(
        texts, 3, 5, "an image")["negatives"]} == {1})
    ok("the negatives of a text are images", {negative["view"] for negative in check_weights(
        texts, 13, 5, "a text")["negatives"]} == {0})
    check_equal_rows(20)
    check_edges()
    check_drawn()
    ok("the console is empty", not page.errors, page.errors)
plan()
