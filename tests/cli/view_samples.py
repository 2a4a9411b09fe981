"""view_samples.py URL...: images that stand out, on the page and in a saved one; TAP on
stdout."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from browser import Browser, ok, plan  # noqa: E402

for url in sys.argv[1:]:
    what = url.split(":")[0]
    with Browser(400, 800) as page:
        page.open(url)
        ok(f"{what}: temperatures with 24 images", page.until(
            "document.querySelectorAll('#samples .extremes .picture').length == 24"), page.said)
        ok(f"{what}: each has a picture", page.value(
            "[...document.querySelectorAll('#samples .picture')].every(e => e.style.backgroundImage"
            " && !/gif/.test(e.style.backgroundImage))"))
        ok(f"{what}: the one that was replaced", page.value(
            "document.querySelector('#samples .replaced').textContent.includes('image 7')"),
           page.text("#samples .replaced"))
        ok(f"{what}: no part is wider than the page", page.value(
            "document.documentElement.scrollWidth <= innerWidth"),
           page.value("document.documentElement.scrollWidth"))
        ok(f"{what}: the console says nothing", not page.said, page.said)
        if os.environ.get("SHOTS"):
            page.shot(f"{os.environ['SHOTS']}/samples-{what}.png")
plan()
