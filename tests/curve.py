"""curve.py ALL METRICS: exits with 0 if the loss curve in foil-view's answer ALL is
that of metrics.jsonl, else with 1."""
import json
import sys


def is_curve(totals, shown, path):
    """Each step, or the minimum and the maximum of several steps, in their order."""
    with open(path, encoding="ascii") as file:
        known = {x["total"]: x["loss"] for x in map(json.loads, file) if "loss" in x}
    each = 2 if totals[-1] > len(totals) else 1
    for i in range(0, len(totals), each):
        steps = range(totals[i], totals[i + each - 1] + 1)
        if not all(t in known for t in steps):
            return False
        near = [known[t] for t in steps]
        bounds = sorted((near.index(min(near)), near.index(max(near))))
        if [float("%.6g" % near[k]) for k in bounds[:each]] != shown[i:i + each]:
            return False
    return len(totals) > 5


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as answer:
        metrics = json.load(answer)["metrics"]
    sys.exit(not is_curve(metrics["total"], metrics["columns"]["loss"], sys.argv[2]))
