"""storm.py [KILLS [SEED [STAGE [python]]]]: random kill -9 over small runs.

Runs of a few seconds, two at a time, until so many processes were killed:
trainer, selector, negatives service (a filter) or any of 1 to 8 augmenters, up
to 12 in a run, up to three at the same moment, each started again at once or
after a while; with STAGE (train, say) that stage alone, up to 40 times. The
runs take turns:

    isogclr        per-sample states, shuffled plans
    emc2-row       Markov chains, a filter between selector and augmenters
    emc2-bank      the same with moves on a bank of features
    spectral       plans from the features of the epoch before

or, with python, those in which a stage on foil.py (tests/python/stage.py) has
the place of one in C: python-train, python-select, python-augment (all of
them), python-negatives, whose state is killed with it; and those in which all
are on foil.py: python-all, whose selector asks for features, and python-all-emc2
with a service of negatives.

A run must end by itself with the checkpoint and the metrics of an undisturbed
one, bit for bit (times apart), and never stand still for a minute: foil-select
has the lowest priority, and beside other work a plan takes many seconds. Prints
TAP and, at the end, figures. BIN is the folder of the tools. A run that fails
keeps its folder: its name is printed.
"""
import concurrent.futures
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

KILLS = int(sys.argv[1]) if len(sys.argv) > 1 else 50
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
STAGE = sys.argv[3] if len(sys.argv) > 3 else ""  # all
PYTHON = "python" in sys.argv[4:]
HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(os.environ.get("BIN", "build/release/bin"))
STALL = 60.0      # seconds without a step, or a kill, that are too many
GIVE_UP = 120.0   # seconds without a step after which a run is given up
PER_RUN = 40 if STAGE else 12
work = tempfile.mkdtemp(prefix="storm-")
data = work + "/data.tar"
env = dict(os.environ, OMP_NUM_THREADS="1", GOMP_SPINCOUNT="0",
           PATH=f"{BIN}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1",
           PYTHONPATH=HERE + "/../pipelines/python")

# options of each stage by kind of run; "" has those of all
OPTIONS = {
    "train": {
        "": "--arch linear --head 32-16 --lr 0.05 --warmup 0 --seed 5 "
            "--threads 1 --checkpoint-every 100 --deadline 100 --resume",
        "isogclr": "--objective isogclr --rho 0.3 --tau 0.2",
        "emc2-row": "--objective emc2 --tau 0.3",
        "emc2-bank": "--objective emc2 --tau 0.3",
        "spectral": "--objective simclr --tau 0.3 --keep-features 2",
        "python-select": "--objective simclr",
        "python-augment": "--objective simclr",
        "python-negatives": "--objective emc2 --tau 0.3",
    },
    "augment": {
        "": "--seed 5 --size 8",
        "emc2-row": "--filter", "emc2-bank": "--filter",
    },
    "select": {
        "": "--seed 5 --batch 8 --epochs 14",
        "spectral": "--strategy spectral --block 128 --threads 1",
    },
    "negatives": {
        "emc2-row": "--filter --proposals row",
        "emc2-bank": "--filter --proposals bank",
        "python-negatives": "", "python-all-emc2": "",
    },
}

# words of the stages in Python, where a kind of run has such
WORDS = {
    "python-train": {"train": "save=20 nap=0.002 resume=1"},
    "python-select": {"select": "batch=8 epochs=14"},
    "python-augment": {"augment": "size=8"},
    "python-negatives": {"negatives": "kept=1"},
    "python-all": {"train": "save=20 nap=0.002 resume=1 keep=2",
                   "select": "batch=8 epochs=14 lag=1",
                   "augment": "size=8"},
    "python-all-emc2": {"train": "save=20 nap=0.002 resume=1 ask=1",
                        "select": "batch=8 epochs=14",
                        "augment": "size=8",
                        "negatives": "kept=1"},
}


def timeless(step):
    """A line of the metrics without what depends on the clock."""
    for part in (step, step.get("plan", {})):
        for key in ("seconds", "waited", "time"):
            part.pop(key, None)
    return json.dumps(step, sort_keys=True)


class Run:
    """The stages of one run in a folder of its own."""

    def __init__(self, name, kind, augmenters):
        self.folder, self.kind = f"{work}/{name}", kind
        os.mkdir(self.folder, 0o700)
        self.process, self.started = {}, {}
        self.last = 0  # when the last step was seen
        self.names = ["train", "select"] + \
            ["negatives"] * (kind in OPTIONS["negatives"]) + \
            [f"augment{i}" for i in range(augmenters)]
        for stage in self.names:
            self.start(stage)

    def start(self, name):
        tool = name.rstrip("0123456789")
        options = OPTIONS[tool].get("", "") + " " + \
            OPTIONS[tool].get(self.kind, "")
        command = [f"{BIN}/foil-{tool}", "-r", self.folder, *options.split()]
        words = WORDS.get(self.kind, {}).get(tool)
        if words:
            command = ["/usr/bin/python3", HERE + "/python/stage.py", tool,
                       self.folder, *words.split()]
        if tool in ("augment", "select"):
            command.append(data)
        self.started[name] = time.monotonic()
        with open(f"{self.folder}/{name}.log", "ab") as log:
            self.process[name] = subprocess.Popen(
                command, env=env, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)

    def kill(self, name):
        self.process[name].kill()
        self.process[name].wait()

    def alive(self, name):
        return self.process[name].poll() is None

    def steps(self):
        try:
            with open(self.folder + "/metrics.jsonl", "rb") as lines:
                return sum(1 for _ in lines)
        except OSError:
            return 0

    def end(self):
        """The trainer has ended: so must all others, by themselves."""
        ended = time.monotonic()
        left, until = [], ended + 40
        servers = [self.started[name] for name in self.process
                   if not name.startswith("augment")]
        for name, process in self.process.items():
            late = self.last - max(self.started[name], *servers) < 5
            if (name == "negatives" or late) and process.poll() is None:
                # a service waits for the next trainer, and so does a stage
                # that had not found the others again at the last step
                process.terminate()
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                left.append(name)
                self.kill(name)
        return left

    def result(self):
        """Digests of all that a run leaves, times apart."""
        found = {}
        latest = self.folder + "/latest"
        for file in sorted(os.listdir(latest)):
            if file.endswith(".safetensors"):
                with open(f"{latest}/{file}", "rb") as f:
                    found[file] = hashlib.sha256(f.read()).hexdigest()
        metrics = hashlib.sha256()
        with open(self.folder + "/metrics.jsonl") as lines:
            for line in lines:
                metrics.update(timeless(json.loads(line)).encode())
        found["metrics.jsonl"] = metrics.hexdigest()
        return found


def watch(run, rng, kills):
    """Lets a run go to its end, killing; returns kills done, longest stall."""
    done, longest, waiting = 0, 0.0, []
    steps, since = 0, time.monotonic()
    strike = since + rng.uniform(0.1, 0.5)
    while True:
        time.sleep(0.02)
        now, at = time.monotonic(), run.steps()
        if at != steps:
            longest, steps, since = max(longest, now - since), at, now
            run.last = now
        for name in [n for when, n in waiting if when <= now]:
            # who starts stages sees that the run is over, and starts no more
            if name == "train" or run.process["select"].poll() != 0:
                run.start(name)
        waiting = [w for w in waiting if w[0] > now]
        if not run.alive("train") and "train" not in (n for _, n in waiting):
            return done, max(longest, now - since)
        if now - since > GIVE_UP:
            return done, now - since
        if done < kills and at > 20 and now >= strike:
            strike = now + rng.uniform(0.05, 0.5)
            longest, since = max(longest, now - since), now
            alive = [n for n in run.names if run.alive(n)
                     and n.startswith(STAGE)]
            for name in rng.sample(alive, min(len(alive),
                                              rng.choice((1, 1, 1, 2, 3)))):
                run.kill(name)
                done += 1
                waiting.append((now + rng.choice((0, 0, 0.2, 1)), name))


class Storm:
    """Undisturbed runs of each kind, then disturbed ones, two at a time."""

    def __init__(self):
        self.kinds = list(WORDS) if PYTHON else [
            kind for kind in OPTIONS["train"] if kind and kind not in WORDS]
        self.calm = {}
        self.number, self.killed, self.runs, self.bad = 0, 0, 0, 0
        self.longest = 0.0

    def report(self, good, what, run):
        self.number += 1
        self.bad += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {what}",
              flush=True)
        if not good:
            print(f"# logs: {run.folder}", flush=True)

    def undisturbed(self, kind):
        run = Run("calm-" + kind, kind, 2)
        watch(run, random.Random(), 0)
        left = run.end()
        return run, run.process["train"].returncode == 0 and not left

    def disturbed(self, number, kills):
        rng = random.Random(f"{SEED} {number}")
        kind = self.kinds[number % len(self.kinds)]
        run = Run(f"run{number}", kind, rng.randint(1, 8))
        return run, watch(run, rng, kills), run.end()

    def judge(self, run, done, stall, left):
        code = run.process["train"].returncode
        same = code == 0 and run.result() == self.calm[run.kind]
        good = same and not left and stall < STALL
        self.runs, self.killed = self.runs + 1, self.killed + done
        self.longest = max(self.longest, stall)
        augmenters = sum(n.startswith("augment") for n in run.names)
        self.report(
            good, f"{run.kind}, {augmenters} augmenters, {done} kills: "
            + ("same bits" if same else f"other bits, exit code {code}")
            + f", at most {stall:.1f} s without a step"
            + (f", left: {' '.join(left)}" if left else ""), run)
        if good:
            shutil.rmtree(run.folder)

    def blow(self, pool):
        for run, good in pool.map(self.undisturbed, self.kinds):
            self.report(good, f"undisturbed: {run.kind}", run)
            if good:
                self.calm[run.kind] = run.result()
        while (self.killed < KILLS and self.bad <= 20
               and len(self.calm) == len(self.kinds)):
            each = min(PER_RUN, (KILLS - self.killed + 1) // 2)
            pair = [pool.submit(self.disturbed, self.runs + i, each)
                    for i in (0, 1)]
            for one in pair:
                run, (done, stall), left = one.result()
                self.judge(run, done, stall, left)


def main():
    for command in (["generate", "-o", data, "--size", "16", "512"],
                    ["index", data]):
        subprocess.run([BIN + "/foil-data", *command], env=env, check=True,
                       stderr=subprocess.DEVNULL)
    storm = Storm()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        storm.blow(pool)
    print(f"# {storm.runs} runs, {storm.killed} kills, {storm.bad} bad, "
          f"longest time without a step {storm.longest:.1f} s, seed {SEED}")
    print(f"1..{storm.number}")
    if not storm.bad:
        shutil.rmtree(work)
    return storm.bad > 0


sys.exit(main())
