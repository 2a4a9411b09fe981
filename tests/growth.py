"""A long run of tiny steps: no process grows.

Starts a trainer, a selector and an augmenter for --steps steps and samples their
resident memory, their open descriptors and the sizes of the run's files.  The slopes
over the last four fifths (least squares) must be small enough for a run of 10^8 steps,
or two months: no descriptor, and at most 8 bytes of memory a step (--bytes).  --view
adds foil-view, which holds every step in its curves.  Prints TAP and the figures.  BIN
is the folder of the tools.
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
args = parser.parse_args()
BIN = os.path.abspath(os.environ.get("BIN", "build/release/bin"))
PAGE = os.sysconf("SC_PAGE_SIZE")
EPOCH = 2  # steps: the shortest possible epochs
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
    """The step number in the last complete line of the metrics."""
    try:
        with open("run/metrics.jsonl", "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return 0
    return int(lines[-2].split(b'"total":')[1].split(b",")[0]) if len(lines) > 1 else 0


def look(processes):
    """Current memory, descriptors and file sizes by name."""
    usage = {path: size(path) for path in FILES}
    for name, process in processes.items():
        with open(f"/proc/{process.pid}/statm") as file:
            usage["memory of " + name] = int(file.read().split()[1]) * PAGE
        usage["descriptors of " + name] = len(os.listdir(f"/proc/{process.pid}/fd"))
    return usage


def slope(points):
    n = len(points)
    x, y = (sum(p[i] for p in points) / n for i in (0, 1))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def follow(processes):
    """Samples the usage at most two hundred times during the run."""
    seen, due = [], 0
    while processes["train"].poll() is None:
        done = steps_done()
        if done >= due:
            try:
                seen.append((done, look(processes)))
            except (FileNotFoundError, ProcessLookupError, IndexError):
                break  # the run is over
            due = done + args.steps // 200
        time.sleep(0.05)
    return seen


def main():
    os.chdir(tempfile.mkdtemp(prefix="growth-"))
    for words in (["generate", "--size", "8", "-o", "set.tar", "4"], ["index", "set.tar"]):
        subprocess.run([BIN + "/foil-data", *words], check=True, stderr=subprocess.DEVNULL)
    os.mkdir("run", 0o700)
    processes = {
        "train": start("train", "--arch", "linear", "--head", "8-8", "--threads", "1",
                       "--steps", str(args.steps), "--schedule", "constant",
                       "--warmup", "0", "--checkpoint-every", "5000"),
        "select": start("select", "--batch", "2", "--epochs", str(args.steps), "set.tar"),
        "augment": start("augment", "--size", "8", "set.tar")}
    if args.view:
        processes["view"] = start("view", "--port", "0")
    seen = follow(processes)
    check(processes["train"].wait() == 0 and steps_done() == args.steps,
          f"the trainer exits with 0 after {args.steps} steps")
    late = [one for one in seen if one[0] >= args.steps / 5]
    check(len(late) >= 20, f"at least 20 samples of the last four fifths: {len(late)}")
    for name in late[-1][1] if len(late) >= 20 else ():
        rate = slope([(done, usage[name]) for done, usage in late])
        first, last = late[0][1][name], late[-1][1][name]
        text = f"{name}: {first} to {last}, {rate:.3f} per step"
        if name in FILES:
            print("#", text)
        elif name.startswith("memory"):
            check(rate < args.bytes, f"{text}, must be below {args.bytes:g}")
        else:
            check(rate * args.steps < 1, f"{text}, must grow by less than 1 in all")
    for name, process in processes.items():
        process.terminate()
        process.wait()
    print(f"1..{checks}")
    if bad:
        print("# files of the run: " + os.getcwd())
    else:
        shutil.rmtree(os.getcwd())
    return bad > 0


sys.exit(main())
