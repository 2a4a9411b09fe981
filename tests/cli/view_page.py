"""view_page.py RUN URL OVER: the page of a run that goes, and of one that is over, in
a browser; TAP on stdout.  Lines on stdin say that the run was killed, and resumed."""
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

# pixels of the map of the colour that lies around names in the dark
DARK = ("(data => { let n = 0; for (let i = 0; i < data.length; i += 4) "
        "n += data[i] === 25 && data[i + 1] === 33 && data[i + 2] === 44 && data[i + 3] === 255; "
        "return n; })((c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data)"
        "(document.querySelector('#map canvas')))")


def wait_for(word):
    print(f"# please {word}", flush=True)
    sys.stdin.readline()


def chosen(page):
    return page.value("[...document.querySelectorAll('#board .tile')]"
                      ".findIndex(tile => tile.matches('.chosen'))")


def answer(page, what):
    """A value of all that a page begins with, which is `a`."""
    return page.value(f"fetch('all').then(r => r.json()).then(a => {what})")


def weigh(link, embeddings, ids):
    """The 14 greatest weights of the softmax for the anchor of a link."""
    row, n = int(re.search(r"anchor=(\d+)", link)[1]), len(ids)
    z = struct.unpack(f"<{n * 2 * 9}f", base64.b64decode(embeddings["z"]))
    cosines = [sum(z[9 * row + k] * z[9 * c + k] for k in range(9)) for c in range(2 * n)]
    weights = [math.exp(embeddings["beta"] * cosine) for c, cosine in enumerate(cosines)
               if ids[c % n] != ids[row % n]]
    return [weight / sum(weights) for weight in sorted(weights, reverse=True)][:14]


def becomes_curve(page):
    """Steps that a killed run made are on the page until the resumed one has made
    them again, and until then metrics.jsonl does not have them."""
    end = time.monotonic() + 120
    while not is_curve(*answer(page, "[a.metrics.total, a.metrics.columns.loss]"),
                       f"{run}/metrics.jsonl"):
        if time.monotonic() > end:
            return False
        time.sleep(.3)
    return True


# pairs of cards that lie over one another, at five places of the page
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


# elements of the dataflow whose words do not fit
CUT = """[...document.querySelectorAll('#flow .stage, #flow .stage *')].filter(e =>
  e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map(e => e.textContent)"""

# before a page's own scripts: it knows its graphs and the names on its map, classes
# have long names, and anchors wait for free()
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

# names on the map that lie over one another; and all of them
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


def see_curves(page):
    page.value("document.querySelector('#curves').scrollIntoView()")  # who sees none, waits
    ok("two lines that coincide are both seen", page.until(
        "document.querySelectorAll('#curves figure:first-child canvas').length > 1") and
       count_colour(page, "#curves figure:first-child", 0, 114, 178) > 20 and
       count_colour(page, "#curves figure:first-child", 217, 130, 0) > 20,
       [count_colour(page, "#curves figure:first-child", *c) for c in ((0, 114, 178), (217, 130, 0))])
    rows = page.value(
        "(g => Array.from({ length: g.numRows() }, (_, i) => [g.getValue(i, 1), g.getValue(i, 2)]))"
        "(window.graphs.findLast(g => g.graphDiv.closest('figure')?.textContent"
        ".startsWith('Learning rates')))")
    ok("a schedule is drawn as it is", len(rows) > 1 and all(a == b for a, b in rows),
       [row for row in rows if row[0] != row[1]][:5])
    raw = page.value("[...document.querySelectorAll('#curves figcaption')].map(e => e.textContent)"
                     ".filter(words => /[a-z][_.][a-z]/.test(words))")
    ok("each curve has a name for people", raw == [], raw)


def see_cards(page, what):
    for width in 1400, 1000, 400:
        page.resize(width, 800)
        over, cut = page.value(OVERLAPS), page.value(CUT)
        ok(f"{what}: no card covers another, {width} pixels wide", over == [], over)
        ok(f"{what}: no box cuts its words", cut == [], cut)


with Browser(1400) as page:
    page.send("Page.addScriptToEvaluateOnNewDocument", source=HOOKS)
    page.open(url)
    ok("the page comes up", page.until("document.querySelectorAll('#board .tile').length == 8"),
       page.said)
    ok("images without an anchor are one tab stop", page.value(
        f"{TAB_STOPS}.filter(e => e.matches('.tile')).length") == 1)
    page.value("sessionStorage.freed = 1, window.free()")
    ok("it says which run", page.text("#run") == os.path.basename(run), page.text("#run"))
    ok("an anchor is chosen", page.until("document.querySelectorAll('#anchor .bar').length == 14"))
    ok("the newest batch is on it a moment later", page.until(
        "(() => { const now = document.querySelector('#board .which').textContent;"
        "const was = window.was ??= now; return was != now })()"))
    page.press(" ")
    ok("space holds it", page.until("document.querySelector('#hold').ariaPressed == 'true'"))
    held = page.text("#board .which")
    page.click("#board .tile", 5)
    ok("a click takes an anchor", page.until(
        "document.querySelectorAll('#board .tile')[5].matches('.chosen')"), chosen(page))
    page.press("j")
    ok("j takes the next", page.until(
        "document.querySelectorAll('#board .tile')[6].matches('.chosen')"), chosen(page))
    page.press("k")
    ok("k the one before", page.until(
        "document.querySelectorAll('#board .tile')[5].matches('.chosen')"), chosen(page))
    ok("the address is a link to it", page.until("location.hash.includes('anchor=')"))
    link = page.value("location.href")
    weights = weigh(page.value("location.hash"), page.value(
        "fetch('embeddings?' + location.hash.slice(1)).then(r => r.json())"), page.value(
            "fetch('batch?' + location.hash.slice(1)).then(r => r.json()).then(b => b.ids)"))
    shown = page.value("[...document.querySelectorAll('#anchor .bar + *, #anchor td:has(.bar) + td')]"
                       ".map(e => parseFloat(e.textContent))")
    ok("the weights on it are those of the softmax",
       len(weights) == 14 and len(shown) == 14 and
       all(abs(100 * w - s) < .6 for w, s in zip(weights, shown)), (weights, shown))
    ok("the held batch stays", page.text("#board .which") == held)
    ok("no part is wider than the page",
       page.value("document.documentElement.scrollWidth <= innerWidth"))
    see_cards(page, "a run that trains")
    page.resize(1400, 1000)
    stops = page.value(f"{TAB_STOPS}.length")
    ok("it has few tab stops", stops <= 60, stops)
    see_curves(page)
    with open(f"{run}/results.jsonl", "a", encoding="ascii") as file:
        for k in 1, 10:
            file.write(json.dumps({"measure": "knn", "k": k, "accuracy": .5, "step": 20}) + "\n")
    ok("evaluations by 1 and by 10 neighbours are told apart", page.until(
        "['knn, k = 1', 'knn, k = 10'].every(name => [...document.querySelectorAll('#results td')]"
        ".some(cell => cell.textContent == name))"), page.text("#results"))

    wait_for("kill")
    before = answer(page, "a.metrics.total.at(-1)")
    ok("the page of a killed run stays", page.text("#board .which") == held)
    wait_for("resume")
    ok("and goes on with the run that was resumed", page.until(
        f"fetch('all').then(r => r.json()).then(a => a.metrics.total.at(-1) > {before})", 120))
    page.press(" ")
    ok("another batch is on it", page.until(
        f"document.querySelector('#board .which').textContent != {json.dumps(held)}", 60),
       [held, *map(page.text, ("#hold", "#state", "#board .which"))])
    ok("the curve is that of metrics.jsonl", becomes_curve(page))
    page.open("about:blank")
    page.open(link)
    ok("the link opens the held batch again",
       page.until(f"document.querySelector('#board .which').textContent == {json.dumps(held)}"))
    ok("with the weights of its anchor, since it was pinned", page.until(
        "document.querySelectorAll('#anchor .bar').length == 14", 10), page.text("#anchor .say"))
    ok("a map of all images comes after an epoch", page.until(
        "!document.querySelector('#map').hidden && "
        "fetch('all').then(r => r.json()).then(a => a.map.n == 40)", 150))
    ok("and a film of several", page.until(
        "document.querySelector('#map input').max >= 2", 300))
    ok("images with their neighbours", page.until(
        "document.querySelectorAll('#near .nearest li').length == 10 && "
        "document.querySelectorAll('#near .nearest .picture').length == 90") and
       re.search(r"\d+ of 80 are of the class", page.text("#near .say")), page.text("#near"))
    ok("and how many lie nearest to one of their class", page.until(
        "/^after epoch \\d+ · \\d+ % lie nearest to one of their own class$/"
        ".test(document.querySelector('#map output').textContent)"), page.text("#map output"))
    ok("each class has its name on it, none over another", page.until(
        f"(([over, n]) => !over.length && n == 8)({NAMES})", 10), page.value(NAMES))
    page.press("p")
    ok("p plays it", page.until(
        "document.querySelector('#map button').ariaPressed == 'true'"))
    page.press("p")
    ok("and holds it", page.until(
        "document.querySelector('#map button').ariaPressed == 'false'"))
    page.press("t")
    ok("t makes it dark, and the names of classes on the map, too", page.until(
        "document.documentElement.style.colorScheme == 'dark'") and page.until(f"{DARK} > 9"))
    ok("the console says nothing", not page.said, page.said)
    if os.environ.get("SHOTS"):
        page.shot(f"{os.environ['SHOTS']}/page.png")


def pictured(page, selector):
    """How many pictures there are, and how many of them have none."""
    return page.value(f"(tiles => [tiles.length, tiles.filter(tile => !/^url\\(.(data|blob|http)/"
                      f".test(getComputedStyle(tile).backgroundImage)"
                      f" || /image.gif/.test(tile.style.backgroundImage)).length])"
                      f"([...document.querySelectorAll('{selector}')])")


def see_export(path, what, points=None):
    with Browser(1400) as page:
        page.open(f"file://{path}")
        ok(f"{what} opens without a server",
           page.until("document.querySelectorAll('#board .tile').length == 8"), page.said)
        ok("it says what it is", page.until(
            "document.querySelector('#state').textContent == 'saved page'"), page.text("#state"))
        ok("its stages were heard", page.until(
            "document.querySelector('#flow').textContent.includes('augment 1')"),
           page.text("#flow"))
        ok("its anchor has its weights", page.until(
            "document.querySelectorAll('#anchor .bar').length == 14"), page.text("#anchor .say"))
        page.click("#board .tile", 5)
        page.press("v")
        ok("another one is clicked, and its view changed", page.until(
            "document.querySelectorAll('#anchor .who button')[1].ariaPressed == 'true'"))
        ok("every image has a picture", pictured(page, ".tile .picture, .who .picture") ==
           [19, 0], pictured(page, ".tile .picture, .who .picture"))
        ok("its curves", page.value("document.querySelectorAll('#curves canvas').length > 0"))
        if points:
            ok("neighbours, each with its picture", page.until(
                "document.querySelectorAll('#near .picture').length == 90") and
               pictured(page, "#near .picture") == [90, 0], pictured(page, "#near .picture"))
            ok(f"its map has {points} points", page.value(
                f"window.FOIL.all.map.n == {points}"))
            page.value("(slider => { slider.value = slider.max - 1;"
                       "slider.dispatchEvent(new Event('input')) })"
                       "(document.querySelector('#map input'))")
            page.press("p")
            ok("its film ends with the last map", page.until(
                "document.querySelector('#map button').ariaPressed == 'false' && "
                "document.querySelector('#map input').value == "
                "document.querySelector('#map input').max", 20))
        ok("it asks nobody for anything", page.value(
            "performance.getEntriesByType('resource')"
            ".every(entry => entry.name.startsWith('data:'))"),
           page.value("performance.getEntriesByType('resource').map(e => e.name.slice(0, 90))"))
        ok("the console says nothing", not page.said, page.said)
        if os.environ.get("SHOTS"):
            page.shot(f"{os.environ['SHOTS']}/{os.path.basename(path)}.png")


wait_for("save")
see_export(f"{os.path.dirname(run)}/saved.html", "the page that was saved", 40)
wait_for("export")
see_export(f"{os.path.dirname(run)}/exported.html", "the page that was exported")
wait_for("end")
with Browser(400, 800) as page:
    page.open(over)
    ok("a run that is over, on 400 pixels",
       page.until("document.querySelectorAll('#board .tile').length == 8"), page.said)
    ok("its curves", page.until("document.querySelectorAll('#curves canvas').length > 0"))
    flow = page.text("#flow")
    ok("its stages as they were", "made batches for 1 augmenter" in flow and
       re.search(r"made [\d,]+ batch", flow), flow)
    ok("no part is wider than the page",
       page.value("document.documentElement.scrollWidth <= innerWidth"),
       page.value("document.documentElement.scrollWidth"))
    see_cards(page, "a run that is over")
    ok("the console says nothing", not page.said, page.said)
plan()
