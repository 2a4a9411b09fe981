"""view_sampler.py RUN URL DRAWN: tests the page of a run with a sampler in a browser; TAP on
stdout.  DRAWN is the output of foil-tap with the messages top_negatives."""
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from browser import Browser, ok, plan  # noqa: E402

run, url, path = sys.argv[1:]


def published(epoch, step, seconds=20):
    """The tensors of the message of a step, by name; None if it does not come."""
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
    """Whether the page received the published weights for an anchor."""
    message = published(anchor["epoch"], anchor["step"])
    drawn = anchor["drawn"]["negatives"]
    if not message or not drawn:
        return False
    k = len(message["w"]) // (2 * len(message["ids"]))
    first, n = anchor["row"] * k, len(drawn)
    near = [abs(a["weight"] - b) < 1e-5 for a, b in zip(drawn, message["w"][first:])]
    return (all(near) and [x["id"] for x in drawn] == message["sample"][first:first + n]
            and not any(message["w"][first + n:first + k])
            and abs(anchor["drawn"]["effective"] / message["effective"][anchor["row"]] - 1) < 1e-4)


def is_trail(anchor):
    """Whether visits that foil-tap also received have the published heaviest negatives."""
    checked = 0
    ids = published(anchor["epoch"], anchor["step"])["ids"]
    view, place = divmod(anchor["row"], len(ids))
    own = ids[place]
    for visit in anchor["trail"]:
        message = published(visit["epoch"], visit["step"], 0)
        if message:
            n, k = len(message["ids"]), len(message["w"]) // (2 * len(message["ids"]))
            first = (view * n + message["ids"].index(own)) * k
            ids = [i for i in message["sample"][first:first + k] if i >= 0]
            if [state["id"] for state in visit["states"]] != ids[:3]:
                return False
            checked += 1
    return checked > 0


def is_plan():
    """Whether the figures of the plan on the board are those of the metrics."""
    words = page.value("[document.querySelector('#board .which').textContent,"
                       " document.querySelector('#board .text').textContent]")
    epoch = int(re.search(r"epoch (\d+)", words[0])[1]) - 1
    shown = re.search(r"after epoch (\d+): ([\d.]+) as planned, ([\d.]+) shuffled", words[1])
    with open(f"{run}/metrics.jsonl", encoding="ascii") as file:
        plans = [step["plan"] for step in map(json.loads, file)
                 if step["epoch"] == epoch and "plan" in step]
    return bool(shown and plans) and int(shown[1]) == plans[0]["from"] + 1 and all(
        abs(float(a) - b) < .006 for a, b in zip(shown.groups()[1:], (
            plans[0]["mean"], plans[0]["random_mean"])))


def add_result(accuracy):
    with open(f"{run}/results.jsonl", "a", encoding="ascii") as file:
        file.write(json.dumps({"measure": "knn", "accuracy": accuracy, "step": 20}) + "\n")
    return page.until(f"document.querySelector('#good').textContent.includes('{accuracy}')")


# drops results while window.lose is set
LOSE = """const add = EventSource.prototype.addEventListener;
EventSource.prototype.addEventListener = function (kind, take) {
  return add.call(this, kind, event => kind === 'result' && window.lose || take(event));
}"""

with Browser(1400) as page:
    page.send("Page.addScriptToEvaluateOnNewDocument", source=LOSE)
    page.open(url)
    ok("the page loads", page.until("document.querySelectorAll('#board .tile').length > 14"),
       page.errors)
    ok("the weights of the sampler have marks for the softmax", page.until(
        "document.querySelectorAll('#anchor .bar s').length > 0"), page.text("#anchor .text"))
    # The page does not receive all steps of so fast a run: the next batch may be of an epoch
    # whose plan it lacks, so it must hold this one.
    ok("the board has the loss of the plan", page.until(
        "document.querySelector('#board .text').textContent.includes('shuffled') &&"
        " !document.body.dispatchEvent(new KeyboardEvent('keydown',"
        " { key: ' ', bubbles: true, cancelable: true }))"),
       page.text("#board .text"))
    ok("space holds the batch", page.until("document.querySelector('#hold').ariaPressed == 'true'"))
    other = page.value("[...document.querySelectorAll('#board .tile')]"
                       ".findIndex(tile => !tile.matches('.chosen'))")
    # records the answer to the page: a later answer has more visits
    page.value("(ask => { window.fetch = async (...what) => {"
               "if (what[0] == 'all' && window.refuse-- > 0) throw 'refused';"
               "const r = await ask(...what);"
               "const [path, row] = what[0].split('?');"
               "if (path == 'anchor') r.clone().json().then(a => { window.anchor = a;"
               "for (const [name, x] of new URLSearchParams(row)) a[name] = Number(x) });"
               "return r } })(window.fetch)")
    page.click("#board .tile", other)
    ok("these are the figures of that epoch", is_plan(), page.text("#board"))
    ok("a click selects the anchor", page.until("window.anchor?.drawn"))
    anchor = page.value("window.anchor")
    ok("the page receives the published weights", is_drawn(anchor), anchor.get("drawn"))
    weights = [round(100 * d["weight"], 6) for d in anchor["drawn"]["negatives"]]
    ok("the page shows the published weights", page.until(
        f"(want => {{ const shown = [...document.querySelectorAll('#anchor td:has(.bar) + td')]"
        ".map(e => parseFloat(e.textContent));"
        "return shown.length == want.length && shown.every((s, i) => Math.abs(s - want[i]) < .6)"
        f"}})({json.dumps(weights)})"), weights)
    ok("the page receives the published states of the chain", is_trail(anchor), anchor["trail"])
    ok("the page shows the published states of the chain", page.until(
        f"document.querySelectorAll('#anchor .trail li').length == {len(anchor['trail'])}"), page.text("#anchor .trail"))
    ok("a new result appears", add_result(.375))
    page.value("window.lose = window.refuse = 1")
    ok("a lost result is loaded again, also after a failure", add_result(.625), page.text("#missed"))
    ok("the page counts the lost message", "by this page: 1" in page.text("#missed"), page.text("#missed"))
    ok("the console is empty", not page.errors, page.errors)
    if os.environ.get("SHOTS"):
        page.shot(f"{os.environ['SHOTS']}/sampler.png")
plan()
