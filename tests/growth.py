"""A long run of tiny steps: what each of its processes holds stays as it is.

Trainer, selector and augmenter of so many steps (--steps), looked at as they go:
resident memory, open descriptors, and bytes of the run's files.  The slopes of the
last four fifths, by least squares, must be below what a run of two months can bear,
which has 10^8: no descriptor, and 8 bytes of memory a step (--bytes).  --view adds a
page, whose curves hold every step.  Prints TAP and the figures.  BIN is the folder
of the tools.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", type=int, default=100000)
parser.add_argument("--bytes", type=float, default=8)
parser.add_argument("--view", action="store_true", help="with foil-view")
given = parser.parse_args()
BIN = os.path.abspath(os.environ.get("BIN", "build/release/bin"))
PAGE = os.sysconf("SC_PAGE_SIZE")
EPOCH = 2  # steps: as many plans and ends of epochs as there can be
FILES = ("metrics.jsonl", "batches.i32", "batches.jsonl")
checks = bad = 0


def check(good, name):
    global checks, bad
    checks += 1
    bad += not good
    print("ok" if good else "not ok", checks, "-", name, flush=True)


def start(name, *options):
    with open(name + ".log", "ab") as log:
        return subprocess.Popen([f"{BIN}/foil-{name}", "-r", "run", *options],
                                stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def size(path):
    try:
        return os.stat("run/" + path).st_size
    except FileNotFoundError:
        return 0


def steps_done():
    """The number in the last whole line."""
    try:
        with open("run/metrics.jsonl", "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return 0
    return int(lines[-2].split(b'"total":')[1].split(b",")[0]) if len(lines) > 1 else 0


def look(processes):
    """What is held now: numbers by name."""
    held = {path: size(path) for path in FILES}
    for name, process in processes.items():
        with open(f"/proc/{process.pid}/statm") as file:
            held["memory of " + name] = int(file.read().split()[1]) * PAGE
        held["descriptors of " + name] = len(os.listdir(f"/proc/{process.pid}/fd"))
    return held


def slope(points):
    n = len(points)
    x, y = (sum(p[i] for p in points) / n for i in (0, 1))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def follow(processes):
    """Looks from time to time, at most two hundred times as the run goes."""
    seen, due = [], 0
    while processes["train"].poll() is None:
        done = steps_done()
        if done >= due:
            try:
                seen.append((done, look(processes)))
            except (FileNotFoundError, ProcessLookupError, IndexError):
                break  # the run is over
            due = done + given.steps // 200
        time.sleep(0.05)
    return seen


def main():
    os.chdir(tempfile.mkdtemp(prefix="growth-"))
    for words in (["generate", "--size", "8", "-o", "set.tar", "4"], ["index", "set.tar"]):
        subprocess.run([BIN + "/foil-data", *words], check=True, stderr=subprocess.DEVNULL)
    os.mkdir("run", 0o700)
    processes = {
        "train": start("train", "--arch", "linear", "--head", "8-8", "--threads", "1",
                       "--steps", str(given.steps), "--schedule", "constant",
                       "--warmup", "0", "--checkpoint-every", "5000"),
        "select": start("select", "--batch", "2", "--epochs", str(given.steps), "set.tar"),
        "augment": start("augment", "--size", "8", "set.tar")}
    if given.view:
        processes["view"] = start("view", "--port", "0")
    seen = follow(processes)
    check(processes["train"].wait() == 0 and steps_done() == given.steps,
          f"{given.steps} steps")
    late = [one for one in seen if one[0] >= given.steps / 5]
    check(len(late) >= 20, f"{len(late)} looks at its last four fifths")
    for name in late[-1][1] if len(late) >= 20 else ():
        rate = slope([(done, held[name]) for done, held in late])
        first, last = late[0][1][name], late[-1][1][name]
        text = f"{name}: {first} to {last}, {rate:.3f} a step"
        if name in FILES:
            print("#", text)
        elif name.startswith("memory"):
            check(rate < given.bytes, f"{text}, below {given.bytes:g}")
        else:
            check(rate * given.steps < 1, text)
    for name, process in processes.items():
        process.terminate()
        process.wait()
    print(f"1..{checks}")
    if bad:
        print("# kept: " + os.getcwd())
    else:
        shutil.rmtree(os.getcwd())
    return bad > 0


sys.exit(main())
