"""Data sets, checkpoints and the man page of foil.py, compared with foil's tools.
usage: test_files.py SCRATCH-FOLDER FOLDER-OF-PAGES, with foil's tools on PATH
"""
import os
import re
import subprocess
import sys

import numpy as np

import foil
from tap import ok, refuses, run

os.chdir(sys.argv[1])


def words(line):
    """The arguments of a line of mdoc, with its own quotes."""
    cells = re.findall(r'"((?:[^"]|"")*)"|(\S+)', line)
    return [a or b for a, b in cells]


def examples_of_the_page():
    """Each text in foil-python(7) that looks like Python, as printed."""
    with open(os.path.join(sys.argv[2], "foil-python.7")) as f:
        lines = f.read().splitlines()
    texts, block = [], None
    for line in lines:
        if line.startswith(".Bd -literal"):
            block = []
        elif line == ".Ed" and block is not None:
            texts, block = texts + ["\n".join(block)], None
        elif block is not None:
            block.append(line)
        elif re.match(r"\.([LQ]l|Li) ", line):
            cells = words(line[4:])
            while cells[-1] in (".", ",", ";", ":"):
                cells.pop()
            texts.append(" ".join(cells))
    wrong, seen = [], 0
    for text in texts:
        text = text.replace(r"\(dq", '"')
        if re.search(r"[(={]", text) and not re.match(r"python3|make", text):
            seen += 1
            try:
                body = text if "\n" in text or text[-1] != ":" else text + " 0"
                compile(re.sub(r"^with .*", r"\g<0>: 0", body), "page", "exec")
            except SyntaxError:
                wrong.append(text)
    ok(seen > 8 and not wrong, f"the examples of foil-python(7) compile: {seen} "
       f"pieces, {wrong}")


def data_sets():
    subprocess.run("foil-data generate -o d.tar --size 8 40 && "
                   "foil-data index d.tar && tar xf d.tar 000007.jpg && "
                   "foil-data split -n 5 d.tar five.foil rest.foil",
                   shell=True, check=True, stderr=subprocess.DEVNULL)
    d = foil.Dataset("d.tar")
    with open("000007.jpg", "rb") as f:
        ok(d[7] == f.read(), "Dataset[i] is the JPEG of sample i")
    ok(len(d) == 40 and d.labels[7] == 7 and d.names[7] == "000007.jpg" and
       len(d.captions[7]) == 2, "a data set has labels, names and captions")
    five = foil.Dataset("five.foil")
    ok(five[0] == d[d.names.index(five.names[0])],
       "a sample of a part is that of the whole set")
    ok(refuses(FileNotFoundError, "no.tar", foil.Dataset, "no.tar") and
       refuses(FileNotFoundError, "no.tar", foil.views, "no.tar") and
       refuses(FileNotFoundError, "no.tar", foil.train, "no.tar") and
       refuses(FileNotFoundError, "no", foil.Run, "no"),
       "a missing data set or run raises FileNotFoundError")
    path = os.environ.pop("PATH")
    right = refuses(FileNotFoundError, "no 'foil-data' on PATH", foil.Dataset, "d.tar")
    os.environ["PATH"] = path
    ok(right, "tools that are not on PATH raise an error with their name")


def checkpoints():
    subprocess.run(
        "foil-augment -r ck --size 8 d.tar & foil-select -r ck -b 8 -e 1 d.tar & "
        "foil-train -r ck --arch linear,hidden=12 --head 8 --threads 1; wait",
        shell=True, check=True, stderr=subprocess.DEVNULL)
    for command in ("foil-embed -o h.npy ck d.tar",
                    "foil-embed --raw --size 8 -o raw.npy d.tar"):
        subprocess.run(command, shell=True, check=True,
                       stderr=subprocess.DEVNULL)
    ck, h = foil.checkpoint("ck"), foil.features("h.npy")
    x = foil.features("raw.npy").x.reshape(40, 8, 8, 3)
    about = ck.config["encoder"]
    x = ((x - about["mean"]) / about["deviation"]).transpose(0, 3, 1, 2)
    ok(np.abs(x.reshape(40, -1) @ ck.model["fc.weight"].T +
              ck.model["fc.bias"] - h.x).max() < 1e-4 and
       (h.labels == foil.Dataset("d.tar").labels).all(),
       "a checkpoint has the weights that foil-embed uses")
    ok(ck.head["head.0.weight"].shape == (8, 12) and not ck.text and
       "config.json" in ck.files and ck.folder.endswith("step-00000005") and
       ck.config["state"]["total"] == 5, "a checkpoint has head, files, folder and state")
    with open("ck/latest/model.safetensors", "r+b") as f:
        f.seek(-1, 2)
        last = f.read(1)
        f.seek(-1, 2)
        f.write(bytes([last[0] ^ 1]))
    ok(refuses(ValueError, "model.safetensors", foil.checkpoint, "ck"),
       "a changed file of the same size is refused")
    ok(refuses(FileNotFoundError, "nothing", foil.checkpoint, "nothing"),
       "a missing checkpoint is refused")


def texts():
    # of bytes only: one token for each byte except spaces, and one at each end
    subprocess.run("foil-data vocabulary --size 514 -o bytes.txt d.tar",
                   shell=True, check=True, stderr=subprocess.DEVNULL)
    captions, seen, right = foil.Dataset("d.tar").captions, [], True
    for b in foil.views("d.tar", batch=8, size=8, vocabulary="bytes.txt",
                        augment="--caption first --context 40",
                        train="--text ,context=40"):
        want = [2 + len(captions[i][0].replace(" ", "")) for i in b.ids]
        right &= b.lengths.tolist() == want and b.views.shape == (1, 8, 8, 8, 3) \
            and b.images().shape == (8, 8, 8, 3) and \
            ((b.tokens != 0).sum(1) >= np.array(want) - 1).all() and \
            b.tokens.shape == (8, max(want))
        seen += b.ids.tolist()
        b.done(z=np.ones((16, 1), "f4"))
    ok(right and sorted(seen) == list(range(40)), "views have the tokens of captions")
    ok(refuses(RuntimeError, "none.txt", list,
               foil.views("d.tar", batch=8, size=8, vocabulary="none.txt")),
       "a missing vocabulary raises an error with its name")


def loops():
    plan = dict(batch=8, epochs=2, size=8)
    places = [(b.epoch, b.step, b.steps, b.epochs, len(b), b.views.shape)
              for b in foil.views("d.tar", **plan)]
    ok(places == [(e, s, 5, 2, 8, (2, 8, 8, 8, 3)) for e in range(2)
                  for s in range(5)], "views are in the order of the plan")
    seen = [b.views.copy() for b in foil.views("d.tar", seed=3, **plan)]
    again = [b.views.copy() for b in foil.views("d.tar", seed=3, **plan)]
    ok(all((a == b).all() for a, b in zip(seen, again)),
       "the same seed gives the same views")
    for batch in foil.views("d.tar", **plan):
        break
    ok(True, "a loop over views can be left")
    ok(len(foil.views("d.tar", **plan)) == 10 and
       len(foil.views("d.tar", batch=16, select="--remainder drop")) == 2,
       "views have a length, by the options of the selector")
    with foil.views("d.tar", **plan) as these:
        loop = iter(these)
        first = next(loop).views.copy()
    ok((first == next(iter(these)).views).all() and next(loop, "ended") == "ended",
       "with ends the loops over its views, and others can begin")
    ok(refuses(RuntimeError, "--no-such", list,
               foil.views("d.tar", augment="--no-such", **plan)),
       "an option that a stage refuses raises its error")
    mixer = f"/usr/bin/python3 '{os.path.dirname(foil.__file__)}/mixer.py'"
    made = [b.made for b in foil.views(
        "d.tar", augment=f'--view-command "{mixer}"', **plan)]
    ok(len(made) == 10 and all(
        m.shape == (16, 2) and ((m[:8, 0] > 0) & (m[:8, 0] < 1)).all() and
        (m[8:] == [[1, r] for r in range(8, 16)]).all() for m in made),
       "a loop has the numbers of the program that makes its views")
    texts()
    epochs, rng = [], np.random.default_rng(0)
    for batch in foil.views("d.tar", keep_features=1, dim=4, epochs=3, batch=8,
                            size=8, strategy="spectral", select="--lag 0"):
        z = rng.normal(size=(len(batch.images()), 4)).astype("f4")
        batch.done(z=z, loss=1, mine=batch.step)
        epochs.append(batch.epoch)
    ok(epochs == sorted(5 * [0, 1, 2]), "a strategy plans from the features of done()")
    ok(refuses(ValueError, "done(z=...)", list, foil.views(
        "d.tar", keep_features=1, **plan)), "a strategy with features needs done(z=...)")


def trains():
    small = dict(epochs=2, batch=8, size=8, augmenters=1, threads=1, compare=False)
    made = foil.train("d.tar", run="made", arch="linear,hidden=12", **small)
    ok([m["total"] for m in made.metrics] == list(range(1, 11)) and
       made.features.x.shape == (40, 12) and "10 steps" in repr(made) and
       made.checkpoint().head and "10 steps" in made.messages,
       "foil.train() without a network trains an encoder of foil-train")
    ok(refuses(FileExistsError, "'made' holds a run", lambda: foil.train(
        "d.tar", run="made", **small)), "a run is not trained again by accident")
    ok(refuses(RuntimeError, "did you mean '--epochs'", lambda: foil.train(
        "d.tar", run="none", epoch=2)) and not os.path.exists("none"),
       "an option that foil run refuses raises its error")


run(examples_of_the_page, data_sets, checkpoints, loops, trains)
