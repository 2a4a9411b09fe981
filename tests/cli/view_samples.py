"""view_samples.py URL SAVED COMPARED OTHER: the panel of images that stand out, on the page
and in a saved file; and a page with the curves of another run; TAP on stdout."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from browser import Browser, ok, plan  # noqa: E402

for url in sys.argv[1:3]:
    what = url.split(":")[0]
    with Browser(400, 800) as page:
        page.open(url)
        ok(f"{what}: temperatures with 24 images", page.until(
            "document.querySelectorAll('#samples .extremes .picture').length == 24"), page.errors)
        ok(f"{what}: each has a picture", page.value(
            "[...document.querySelectorAll('#samples .picture')].every(e => e.style.backgroundImage"
            " && !/image.gif/.test(e.style.backgroundImage))"))
        ok(f"{what}: the image that was replaced", page.value(
            "document.querySelector('#samples .replaced').textContent.includes('image 7')"),
           page.text("#samples .replaced"))
        ok(f"{what}: nothing is wider than the page", page.value(
            "document.documentElement.scrollWidth <= innerWidth"),
           page.value("document.documentElement.scrollWidth"))
        ok(f"{what}: the console is empty", not page.errors, page.errors)
        if os.environ.get("SHOTS"):
            page.shot(f"{os.environ['SHOTS']}/samples-{what}.png")

compared, other = sys.argv[3:]
with Browser(1400) as page:
    page.open(compared)
    ok("two runs: each plot has one metric", page.until(
        "document.querySelectorAll('#curves figcaption').length > 5 &&"
        "[...document.querySelectorAll('#curves figure:first-child b')].length == 2"), page.errors)
    keys = page.text("#curves figcaption")
    with open(f"{other}/metrics.jsonl", encoding="ascii") as file:
        steps = [json.loads(line) for line in file]
    ok("with the last loss of each run", f"{other} {steps[-1]['loss']:.3f}" in keys, keys)
    page.value("document.querySelector('#curves').scrollIntoView()")  # hidden plots are not drawn
    with open(f"{other}/metrics.jsonl", "a", encoding="ascii") as file:
        file.write(json.dumps({**steps[-1], "total": 30, "loss": 7.125}) + "\n")
    ok("a new step appears", page.until(
        "document.querySelector('#curves figcaption').textContent.includes('7.125')"))
    with open(f"{other}/metrics.jsonl", "w", encoding="ascii") as file:
        file.write(json.dumps({**steps[0], "loss": 6.25}) + "\n")
    ok("steps that are cut from the file disappear", page.until(
        "document.querySelector('#curves figcaption').textContent.includes('6.250')"))
    ok("the console is empty", not page.errors, page.errors)
    if os.environ.get("SHOTS"):
        page.shot(f"{os.environ['SHOTS']}/compared.png")
plan()
