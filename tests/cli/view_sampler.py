"""view_sampler.py RUN URL DRAWN: the page of a run with a sampler, in a browser; TAP on
stdout.  DRAWN is where foil-tap writes what the sampler drew."""
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from browser import Browser, ok, plan  # noqa: E402

run, url, path = sys.argv[1:]


def published(epoch, step, seconds=20):
    """The message of a step, as tensors by their names."""
    end = time.monotonic() + seconds
    while True:
        with open(path, encoding="ascii") as file:
            for line in file:
                if f'"epoch":{epoch},"step":{step},' in line and line.endswith("\n"):
                    return {t["name"]: t["data"] for t in json.loads(line)["tensors"]}
        if time.monotonic() > end:
            return None
        time.sleep(.2)


def is_drawn(anchor):
    """Of what the page got for a row of a step."""
    told = published(anchor["epoch"], anchor["step"])
    drawn = anchor["drawn"]["negatives"]
    if not told or not drawn:
        return False
    k = len(told["w"]) // (2 * len(told["ids"]))
    first, n = anchor["row"] * k, len(drawn)
    near = [abs(a["weight"] - b) < 1e-5 for a, b in zip(drawn, told["w"][first:])]
    return (all(near) and [x["id"] for x in drawn] == told["sample"][first:first + n]
            and not any(told["w"][first + n:first + k])
            and abs(anchor["drawn"]["effective"] / told["effective"][anchor["row"]] - 1) < 1e-4)


def is_trail(anchor):
    """Visits that foil-tap heard, too, are the heaviest negatives of the image in them."""
    heard = 0
    ids = published(anchor["epoch"], anchor["step"])["ids"]
    view, place = divmod(anchor["row"], len(ids))
    own = ids[place]
    for visit in anchor["trail"]:
        told = published(visit["epoch"], visit["step"], 0)
        if told:
            n, k = len(told["ids"]), len(told["w"]) // (2 * len(told["ids"]))
            first = (view * n + told["ids"].index(own)) * k
            ids = [i for i in told["sample"][first:first + k] if i >= 0]
            if [state["id"] for state in visit["states"]] != ids[:3]:
                return False
            heard += 1
    return heard > 0


def is_plan():
    """What the board says of its plan is in the metrics."""
    words = page.value("[document.querySelector('#board .which').textContent,"
                       " document.querySelector('#board .say').textContent]")
    epoch = int(re.search(r"epoch (\d+)", words[0])[1]) - 1
    said = re.search(r"after epoch (\d+), .* loss of ([\d.]+) as planned, and of ([\d.]+)",
                     words[1])
    with open(f"{run}/metrics.jsonl", encoding="ascii") as file:
        plans = [step["plan"] for step in map(json.loads, file)
                 if step["epoch"] == epoch and "plan" in step]
    return bool(said and plans) and int(said[1]) == plans[0]["from"] + 1 and all(
        abs(float(a) - b) < .006 for a, b in zip(said.groups()[1:], (
            plans[0]["mean"], plans[0]["random_mean"])))


def add_result(accuracy):
    with open(f"{run}/results.jsonl", "a", encoding="ascii") as file:
        file.write(json.dumps({"measure": "knn", "accuracy": accuracy, "step": 20}) + "\n")
    return page.until(f"document.querySelector('#results').textContent.includes('{accuracy}')")


# results do not get to a page where window.lose is set
LOSE = """const add = EventSource.prototype.addEventListener;
EventSource.prototype.addEventListener = function (kind, take) {
  return add.call(this, kind, event => kind === 'result' && window.lose || take(event));
}"""

with Browser(1400) as page:
    page.send("Page.addScriptToEvaluateOnNewDocument", source=LOSE)
    page.open(url)
    ok("the page comes up", page.until("document.querySelectorAll('#board .tile').length > 14"),
       page.said)
    ok("the softmax is beside the weights of the sampler", page.until(
        "document.querySelectorAll('#anchor .bar s').length > 0"), page.text("#anchor .say"))
    # the page is not told of each step of so fast a run
    ok("the board says how hard its plan is", page.until(
        "document.querySelector('#board .say').textContent.includes('shuffled')"),
       page.text("#board .say"))
    page.press(" ")
    ok("space holds it", page.until("document.querySelector('#hold').ariaPressed == 'true'"))
    other = page.value("[...document.querySelectorAll('#board .tile')]"
                       ".findIndex(tile => !tile.matches('.chosen'))")
    # what the page is told of it: a later answer has the visits since then, too
    page.value("(ask => { window.fetch = async (...what) => {"
               "if (what[0] == 'all' && window.refuse-- > 0) throw 'refused';"
               "const r = await ask(...what);"
               "const [path, row] = what[0].split('?');"
               "if (path == 'anchor') r.clone().json().then(a => { window.told = a;"
               "for (const [name, x] of new URLSearchParams(row)) a[name] = Number(x) });"
               "return r } })(window.fetch)")
    page.click("#board .tile", other)
    ok("it is the plan of that epoch", is_plan(), page.text("#board"))
    ok("a click takes an anchor", page.until("window.told?.drawn"))
    anchor = page.value("window.told")
    ok("what is drawn is what was published", is_drawn(anchor), anchor.get("drawn"))
    weights = [round(100 * d["weight"], 6) for d in anchor["drawn"]["negatives"]]
    ok("and on the page", page.until(
        f"(want => {{ const shown = [...document.querySelectorAll('#anchor td:has(.bar) + td')]"
        ".map(e => parseFloat(e.textContent));"
        "return shown.length == want.length && shown.every((s, i) => Math.abs(s - want[i]) < .6)"
        f"}})({json.dumps(weights)})"), weights)
    ok("the trail of its chain is what was published", is_trail(anchor), anchor["trail"])
    ok("and on the page", page.until("document.querySelectorAll('#anchor .trail li').length == "
                                     f"{len(anchor['trail'])}"), page.text("#anchor .trail"))
    ok("a result comes while the page is open", add_result(.375))
    page.value("window.lose = window.refuse = 1")
    ok("one that is lost is read again, also after a failure", add_result(.625), page.text("#missed"))
    ok("the page tells of it", "by this page: 1" in page.text("#missed"), page.text("#missed"))
    ok("the console says nothing", not page.said, page.said)
    if os.environ.get("SHOTS"):
        page.shot(f"{os.environ['SHOTS']}/sampler.png")
plan()
