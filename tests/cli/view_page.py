"""view_page.py RUN URL OVER: tests the page of a live run and of a finished run in a
browser, their URLs the argument and the content of the file OVER; TAP on stdout.  It prints requests to kill and resume the run, and waits for a
line on stdin after each."""
import base64
import json
import math
import os
import re
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from browser import Browser, ok, plan  # noqa: E402
from curve import is_curve  # noqa: E402

run, url, over = sys.argv[1:]

# counts pixels of the map with the colour around names in the dark theme
DARK = ("(data => { let n = 0; for (let i = 0; i < data.length; i += 4) "
        "n += data[i] === 25 && data[i + 1] === 33 && data[i + 2] === 44 && data[i + 3] === 255; "
        "return n; })((c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data)"
        "(document.querySelector('#map canvas')))")


def request(word):
    """Asks view-page.sh to do something, and waits until it is done."""
    print(f"# please {word}", flush=True)
    sys.stdin.readline()


def anchor_place(page):
    return page.value("[...document.querySelectorAll('#board .tile')]"
                      ".findIndex(tile => tile.matches('.chosen'))")


def answer(page, what):
    """An expression of `a`, the data that a page starts with."""
    return page.value(f"fetch('all').then(r => r.json()).then(a => {what})")


def weigh(link, embeddings, ids):
    """The 14 greatest softmax weights for the anchor of a link."""
    row, n = int(re.search(r"anchor=(\d+)", link)[1]), len(ids)
    z = struct.unpack(f"<{n * 2 * 9}f", base64.b64decode(embeddings["z"]))
    cosines = [sum(z[9 * row + k] * z[9 * c + k] for k in range(9)) for c in range(2 * n)]
    weights = [math.exp(2 * cosine) for c, cosine in enumerate(cosines)
               if ids[c % n] != ids[row % n]]
    return [weight / sum(weights) for weight in sorted(weights, reverse=True)][:14]


def becomes_curve(page):
    """Waits until the curve is that of metrics.jsonl.  Until the resumed run has repeated
    the steps of the killed run, only the page has them."""
    end = time.monotonic() + 120
    while not is_curve(*answer(page, "[a.metrics.total, a.metrics.columns.loss]"),
                       f"{run}/metrics.jsonl"):
        if time.monotonic() > end:
            return False
        time.sleep(.3)
    return True


# pairs of cards that overlap, at five scroll positions
OVERLAPS = """(() => {
  const cards = [...document.querySelectorAll('main section')].filter(e => e.checkVisibility());
  const far = document.documentElement.scrollHeight - innerHeight, over = [];
  for (const share of [0, .25, .5, .75, 1]) {
    scrollTo(0, share * far);
    const boxes = cards.map(e => e.getBoundingClientRect());
    boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, j) => {
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
          Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)
        over.push([share, cards[j].id, cards[i].id]);
    }));
  }
  scrollTo(0, 0);
  return over })()"""


# elements of the dataflow with text that does not fit
CUT = """[...document.querySelectorAll('#flow .stage, #flow .stage *')].filter(e =>
  e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map(e => e.textContent)"""

# runs before the page's scripts: records graphs and the names on the map, gives classes
# long names, and delays anchors until free() is called
HOOKS = """window.graphs = [];
window.names = new Map();
let real;
Object.defineProperty(window, 'Dygraph', { set: value => real = value, get: () => real &&
  class extends real { constructor(...all) { super(...all); window.graphs.push(this); } } });
const pen = CanvasRenderingContext2D.prototype, { fillText, clearRect } = pen;
pen.clearRect = function (...all) { window.names.delete(this.canvas); clearRect.apply(this, all); };
pen.fillText = function (text, x, y) {
  if (!window.names.has(this.canvas)) window.names.set(this.canvas, []);
  window.names.get(this.canvas).push({ text, x, y, width: this.measureText(text).width });
  fillText.call(this, text, x, y);
};
const ask = window.fetch, freed = new Promise(free => window.free = free);
window.fetch = async (...what) => {
  if (/^anchor/.test(what[0]) && !sessionStorage.freed) await freed;
  const answer = await ask(...what);
  if (what[0] !== 'all') return answer;
  const all = await answer.json();
  all.classes = all.classes.map(name => name + ', a class with a long name');
  return new Response(JSON.stringify(all));
};"""

# names on the map that overlap, and the number of all
NAMES = """(names => [names.filter((a, i) => names.slice(0, i).some(b =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < 12)), names.length])(
  window.names.get(document.querySelector('#map canvas')) ?? [])"""

TAB_STOPS = """[...document.querySelectorAll('a[href], button, input, summary, [tabindex]')]
  .filter(e => e.tabIndex >= 0 && e.checkVisibility())"""


def count_colour(page, figure, red, green, blue):
    """Opaque pixels of about a colour on the canvases of a figure."""
    return page.value(
        f"[...document.querySelectorAll({json.dumps(figure)} + ' canvas')].reduce((n, c) => {{"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "const near = (i, x) => Math.abs(d[i] - x) < 40;"
        "for (let i = 0; i < d.length; i += 4) "
        f"n += d[i + 3] > 200 && near(i, {red}) && near(i + 1, {green}) && near(i + 2, {blue});"
        "return n }, 0)")


def check_curves(page):
    page.value("document.querySelector('#curves').scrollIntoView()")  # hidden plots are not drawn
    ok("two lines that coincide are both visible", page.until(
        "document.querySelectorAll('#curves figure:first-child canvas').length > 1") and
       count_colour(page, "#curves figure:first-child", 0, 114, 178) > 20 and
       count_colour(page, "#curves figure:first-child", 217, 130, 0) > 20,
       [count_colour(page, "#curves figure:first-child", *c) for c in ((0, 114, 178), (217, 130, 0))])
    rows = page.value(
        "(g => Array.from({ length: g.numRows() }, (_, i) => [g.getValue(i, 1), g.getValue(i, 2)]))"
        "(window.graphs.findLast(g => g.graphDiv.closest('figure')?.textContent"
        ".startsWith('Learning rates')))")
    ok("a schedule is not smoothed", len(rows) > 1 and all(a == b for a, b in rows),
       [row for row in rows if row[0] != row[1]][:5])
    raw = page.value("[...document.querySelectorAll('#curves figcaption')].map(e => e.textContent)"
                     ".filter(words => /[a-z][_.][a-z]/.test(words))")
    ok("each curve has a readable name", raw == [], raw)


CARDS = "How good|Dataflow|Batch|Anchor and negatives|Similarity matrix|Embedding map|" \
    "Nearest neighbours|Curves|Log"


def check_cards(page, what):
    """Checks the layout of all cards, at three widths."""
    ok(f"{what}: has all cards, in a list", page.until(
        f"[...document.querySelectorAll('#contents a')].map(a => a.textContent).join('|') == '{CARDS}'"),
       page.value("[...document.querySelectorAll('#contents a')].map(a => a.textContent)"))
    ok(f"{what}: has the map and neighbours",
       page.until("document.querySelector('#map output').textContent != ''") and
       page.until("document.querySelectorAll('#near .nearest li').length == 10"), page.text("#map"))
    for width in 1400, 900, 400:
        page.resize(width, 800)
        over, cut = page.value(OVERLAPS), page.value(CUT)
        ok(f"{what}: no cards overlap, {width} pixels wide", over == [], over)
        ok(f"{what}: the text of each box fits", cut == [], cut)
        wide = page.value("document.documentElement.scrollWidth")
        ok(f"{what}: nothing is wider than the page", wide <= width, wide)
    high = page.value("document.documentElement.scrollHeight")
    ok(f"{what}: at most 8 screens high", high <= 8 * 800, high)
    stops = page.value(f"{TAB_STOPS}.length")
    ok(f"{what}: there are few tab stops", stops <= 60, stops)
    words = page.value("document.body.innerText.match(/.*(not known|unknown|undefined|NaN).*/i)")
    ok(f"{what}: no card says 'not known'", words is None, words)


with Browser(1400) as page:
    page.send("Page.addScriptToEvaluateOnNewDocument", source=HOOKS)
    page.open(url)
    ok("the page loads", page.until("document.querySelectorAll('#board .tile').length == 8"),
       page.errors)
    ok("before there is an anchor, all tiles are one tab stop", page.value(
        f"{TAB_STOPS}.filter(e => e.matches('.tile')).length") == 1)
    page.value("sessionStorage.freed = 1, window.free()")
    ok("it shows the name of the run", page.text("#run") == os.path.basename(run), page.text("#run"))
    ok("it chooses an anchor", page.until("document.querySelectorAll('#anchor .bar').length == 14"))
    ok("it shows newer batches", page.until(
        "(() => { const now = document.querySelector('#board .which').textContent;"
        "const was = window.was ??= now; return was != now })()"))
    page.press(" ")
    ok("space holds the batch", page.until("document.querySelector('#hold').ariaPressed == 'true'"))
    held = page.text("#board .which")
    page.click("#board .tile", 5)
    ok("a click selects the anchor", page.until(
        "document.querySelectorAll('#board .tile')[5].matches('.chosen')"), anchor_place(page))
    page.press("j")
    ok("j selects the next image", page.until(
        "document.querySelectorAll('#board .tile')[6].matches('.chosen')"), anchor_place(page))
    page.press("k")
    ok("k selects the previous image", page.until(
        "document.querySelectorAll('#board .tile')[5].matches('.chosen')"), anchor_place(page))
    ok("the address becomes a link to it", page.until("location.hash.includes('anchor=')"))
    link = page.value("location.href")
    ok("the embeddings of that batch come", page.until(
        "fetch('embeddings?' + location.hash.slice(1)).then(r => r.status == 200)"))
    weights = weigh(page.value("location.hash"), page.value(
        "fetch('embeddings?' + location.hash.slice(1)).then(r => r.json())"), page.value(
            "fetch('batch?' + location.hash.slice(1)).then(r => r.json()).then(b => b.ids)"))
    shown = page.value("[...document.querySelectorAll('#anchor .bar + *, #anchor td:has(.bar) + td')]"
                       ".map(e => parseFloat(e.textContent))")
    ok("its weights are those of the softmax",
       len(weights) == 14 and len(shown) == 14 and
       all(abs(100 * w - s) < .6 for w, s in zip(weights, shown)), (weights, shown))
    ok("the held batch stays", page.text("#board .which") == held)
    check_curves(page)
    ok("without results the first card says how to get them",
       "foil eval follow" in page.text("#good"), page.text("#good"))
    with open(f"{run}/results.jsonl", "a", encoding="ascii") as file:
        for k, step in (1, 20), (10, 20), (1, 40):
            file.write(json.dumps({"measure": "knn", "k": k, "accuracy": .5, "step": step}) + "\n")
        file.write(json.dumps({"measure": "knn", "k": 1, "accuracy": .5, "pixels": .4, "untrained": .3,
                               "n": 10000, "step": 60, "epoch": 12, "text": "1-NN 50.0 %"}) + "\n")
    ok("a comparison of an epoch is in words", page.until(
        "document.querySelector('#good .verdict').textContent == "
        "'Epoch 12: better than raw pixels by 10.0 points, noise 1.4'"), page.text("#good"))
    ok("evaluations with 1 and 10 neighbours have different names", page.until(
        "['1-NN', '10-NN'].every(name => [...document.querySelectorAll('#good td')]"
        ".some(cell => cell.textContent == name))"), page.text("#good"))
    with open(f"{run}/table.json", "w", encoding="ascii") as file:
        json.dump({"n": 40, "pixels": {"name": "raw pixels (16x16)", "1-NN": .4},
                   "untrained": {"name": "the untrained encoder", "1-NN": .35},
                   "trained": {"name": "the trained encoder", "1-NN": .525},
                   "noise": .031, "better": True}, file)
    ok("with them and a comparison it says how good the encoder is", page.until(
        "document.querySelector('#good .verdict').textContent == "
        "'Better than raw pixels (16x16) by 12.5 points, noise 3.1'") and page.until(
            "document.querySelectorAll('#good canvas').length > 0 && "
            "['1-NN', 'raw pixels (16x16)'].every(name => "
            "document.querySelector('#good .keys').textContent.includes(name))"), page.text("#good"))

    request("kill")
    before = answer(page, "a.metrics.total.at(-1)")
    ok("when the run is killed, the page stays as it is", page.text("#board .which") == held)
    request("resume")
    ok("it continues with the resumed run", page.until(
        f"fetch('all').then(r => r.json()).then(a => a.metrics.total.at(-1) > {before})", 120))
    page.press(" ")
    ok("space releases the batch", page.until(
        f"document.querySelector('#board .which').textContent != {json.dumps(held)}", 60),
       [held, *map(page.text, ("#hold", "#state", "#board .which"))])
    ok("the curve is that of metrics.jsonl", becomes_curve(page))
    page.open("about:blank")
    page.open(link)
    ok("the link opens the held batch",
       page.until(f"document.querySelector('#board .which').textContent == {json.dumps(held)}"))
    ok("with the weights of its anchor, since the batch is pinned", page.until(
        "document.querySelectorAll('#anchor .bar').length == 14", 10), page.text("#anchor .text"))
    ok("there is a map of all images after an epoch", page.until(
        "!document.querySelector('#map').hidden && "
        "fetch('all').then(r => r.json()).then(a => a.map.n == 40)", 150))
    ok("there are several maps after more epochs", page.until(
        "document.querySelector('#map input').max >= 2", 300))
    ok("images have neighbours", page.until(
        "document.querySelectorAll('#near .nearest li').length == 10 && "
        "document.querySelectorAll('#near .nearest .picture').length == 90") and
       re.search(r"\d+ of 80 neighbours have the class", page.text("#near .text")), page.text("#near"))
    ok("a map has its epoch", page.until(
        "/^after epoch \\d+$/.test(document.querySelector('#map output').textContent)"), page.text("#map output"))
    ok("each class has its name on it, without overlaps", page.until(
        f"(([over, n]) => !over.length && n == 8)({NAMES})", 10), page.value(NAMES))
    check_cards(page, "a live run")
    page.resize(1400, 1000)
    page.press("p")
    ok("p plays the maps", page.until(
        "document.querySelector('#map button').ariaPressed == 'true'"))
    page.press("p")
    ok("p stops them", page.until(
        "document.querySelector('#map button').ariaPressed == 'false'"))
    page.press("t")
    ok("t switches to the dark theme, also for names on the map", page.until(
        "document.documentElement.style.colorScheme == 'dark'") and page.until(f"{DARK} > 9"))
    ok("the console is empty", not page.errors, page.errors)
    if os.environ.get("SHOTS"):
        page.shot(f"{os.environ['SHOTS']}/page.png")


def count_pictures(page, selector):
    """The number of pictures, and how many of them are blank."""
    return page.value(f"(tiles => [tiles.length, tiles.filter(tile => !/^url\\(.(data|blob|http)/"
                      f".test(getComputedStyle(tile).backgroundImage)"
                      f" || /image.gif/.test(tile.style.backgroundImage)).length])"
                      f"([...document.querySelectorAll('{selector}')])")


def check_export(path, what, maps=1):
    with Browser(1400) as page:
        page.open(f"file://{path}")
        ok(f"{what} opens without a server",
           page.until("document.querySelectorAll('#board .tile').length == 8"), page.errors)
        ok("it is marked as saved", page.until(
            "document.querySelector('#state').textContent == 'saved page'"), page.text("#state"))
        ok("it has the stages", page.until(
            "document.querySelector('#flow').textContent.includes('augment 1')"),
           page.text("#flow"))
        ok("its anchor has weights", page.until(
            "document.querySelectorAll('#anchor .bar').length == 14"), page.text("#anchor .text"))
        page.click("#board .tile", 5)
        page.press("v")
        ok("another anchor is clicked and its view changed", page.until(
            "document.querySelectorAll('#anchor .views button')[1].ariaPressed == 'true'"))
        ok("every image has a picture", count_pictures(page, ".tile .picture, .views .picture") ==
           [19, 0], count_pictures(page, ".tile .picture, .views .picture"))
        ok("it has curves", page.value("document.querySelectorAll('#curves canvas').length > 0"))
        check_cards(page, what)
        ok(f"{what}: has no path of this machine", not page.value(
            "window.FOIL.all.folder.includes('/')"))
        ok(f"{what}: says how good the encoder is", page.text("#good .verdict").startswith("Better than"),
           page.text("#good"))
        if maps > 1:
            ok("each neighbour has a picture", page.until(
                "document.querySelectorAll('#near .picture').length == 90") and
               count_pictures(page, "#near .picture") == [90, 0], count_pictures(page, "#near .picture"))
            ok("its map has all points", page.value("window.FOIL.all.map.n == 40"))
            page.value("(slider => { slider.value = slider.max - 1;"
                       "slider.dispatchEvent(new Event('input')) })"
                       "(document.querySelector('#map input'))")
            page.press("p")
            ok("playing ends with the last map", page.until(
                "document.querySelector('#map button').ariaPressed == 'false' && "
                "document.querySelector('#map input').value == "
                "document.querySelector('#map input').max", 20))
        ok("it loads nothing from elsewhere", page.value(
            "performance.getEntriesByType('resource')"
            ".every(entry => entry.name.startsWith('data:'))"),
           page.value("performance.getEntriesByType('resource').map(e => e.name.slice(0, 90))"))
        ok("the console is empty", not page.errors, page.errors)
        if os.environ.get("SHOTS"):
            page.shot(f"{os.environ['SHOTS']}/{os.path.basename(path)}.png")


request("save")
check_export(f"{os.path.dirname(run)}/saved.html", "the saved page", 2)
request("export")
check_export(f"{os.path.dirname(run)}/exported.html", "the exported page")
request("end")
check_export(f"{os.path.dirname(run)}/over.html", "the exported page of a finished run")
with open(over, encoding="ascii") as file, Browser(400, 800) as page:
    ended = file.read().strip()
    page.open(ended)
    ok("the page of a finished run loads, 400 pixels wide",
       page.until("document.querySelectorAll('#board .tile').length == 8"), page.errors)
    ok("it has curves", page.until("document.querySelectorAll('#curves canvas').length > 0"))
    flow = page.text("#flow")
    ok("it has the stages of its last step", "made batches for 1 augmenter" in flow and
       re.search(r"made [\d,]+ batch", flow), flow)
    ok("its anchor has weights by the newest checkpoint", page.until(
        "document.querySelectorAll('#anchor .bar').length == 14") and
       "by the newest checkpoint" in page.text("#board .text"), page.text("#board .text"))
    check_cards(page, "a finished run")
    page.open("about:blank")
    page.open(f"{ended}#epoch=0&step=0&anchor=3")
    ok("a link opens an old batch, with weights", page.until(
        "document.querySelector('#board .which').textContent.startsWith('epoch 1, step 1:')") and
       page.until("document.querySelectorAll('#anchor .bar').length == 14"), page.text("#board .text"))
    ok("the console is empty", not page.errors, page.errors)
plan()
