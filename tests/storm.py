"""Kills, stops and clock jumps over small runs, until so many processes died.

Runs of a few seconds, two at a time (--together). Strikes hit the trainer, the
selector, the negatives service (a filter) or any of 1 to 8 augmenters, up to
three of them at the same moment; with --stage that stage alone:

    kill -9, started again at once or after a while: up to 12 in a run, with
             --stage up to 40
    SIGSTOP  for LOW to HIGH seconds (--pause), once in a run
    a clock  that jumps an hour ahead or back, for all stages of a run: twice

The clock is that of tests/skewed_clock.c. The runs take turns:

    isogclr        per-sample states, shuffled plans
    emc2-row       Markov chains, a filter between selector and augmenters
    emc2-bank      the same with moves on a bank of features
    spectral       plans from the features of the epoch before

or, with --commands, those in which the heart of a stage
is a command of pipelines/commands, or the encoder is that of pipelines/examples:
command-train, command-select, command-augment (of all), command-negatives,
command-all. There a strike may also hit the program of a stage.

--all takes both kinds and a third one: ranks, where there is foil-train-mpi, two
of them, of which a strike kills one. A quarter of the kills ask a stage to end
(SIGTERM) and start it again, and pages come and are killed: foil-view, a reader of
its events, and one that does not read.

A run must end by itself with the checkpoint and the metrics of an undisturbed
one, bit for bit (times apart), and never stand still for a minute in which all
of its stages may run: foil-select has the lowest priority, and beside other work
a plan takes many seconds. Once the last fault has ended no step may take longer
than --calm seconds. Prints TAP and, at the end, figures. BIN is the folder
of the tools. A run that fails keeps its folder: its name is printed.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--kills", type=int, default=50)
parser.add_argument("--seed", type=int, default=os.environ.get("SEED", 1))
parser.add_argument("--stage", default="", help="strike this stage alone")
parser.add_argument("--commands", action="store_true",
                    help="a command behind each stage in turn")
parser.add_argument("--all", action="store_true",
                    help="commands or not, ranks, pages, SIGTERM")
parser.add_argument("--calm", type=float, default=60, metavar="SECONDS",
                    help="a step may take when all faults are over")
parser.add_argument("--pause", metavar="LOW-HIGH",
                    default=os.environ.get("PAUSE", "0.5-3"),
                    help="seconds for which stages are stopped")
parser.add_argument("--together", type=int, default=2, metavar="RUNS")
told = parser.parse_args()
if os.environ.get("B") == "asan":
    told.kills = min(told.kills, 16)
told.kills = int(os.environ.get("STORM", told.kills))
PAUSE = [float(seconds) for seconds in told.pause.split("-")]
HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(os.environ.get("BIN", "build/release/bin"))
CLOCK = os.path.join(os.path.dirname(BIN), "tests", "skewed_clock.so")
STALL = 60.0      # seconds without a step, or a strike, that are too many
GIVE_UP = 120.0   # seconds without a step after which a run is given up
PER_RUN = 40 if told.stage else 12
JUMPS = 2         # of the clock of a run
work = tempfile.mkdtemp(prefix="storm-")
data = work + "/data.tar"
env = dict(os.environ, OMP_NUM_THREADS="1", GOMP_SPINCOUNT="0",
           PATH=f"{BIN}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1")

COMMANDS = HERE + "/../pipelines/commands"
STRATEGY = "--features none --strategy-command " + shlex.quote(
    f"mawk -Winteractive -f {COMMANDS}/strategy.awk")
VIEW = "--view-command " + shlex.quote(f"perl {COMMANDS}/view.pl")
WEIGH = "--weigh-command " + shlex.quote(f"perl {COMMANDS}/weigh.pl")

ENCODER = "--encoder-lost resume --encoder " + shlex.quote(
    f"/usr/bin/python3 {HERE}/../pipelines/examples/encoder.py")
NET = "--arch linear --head 32-16"  # where it is the trainer's

# options of each stage by kind of run; "" has those of all
OPTIONS = {
    "train": {
        "": "--lr 0.05 --warmup 0 --seed 5 --threads 1 --checkpoint-every 100 "
            "--deadline 100 --resume",
        "isogclr": "--objective isogclr,rho=0.3,tau=0.2 ",
        "emc2-row": "--objective emc2,tau=0.3 ",
        "emc2-bank": "--objective emc2,tau=0.3 ",
        "spectral": "--objective simclr,tau=0.3 --keep-features 2",
        "command-train": ENCODER,
        "command-select": "--objective simclr",
        "command-augment": "--objective simclr",
        "command-negatives": "--objective emc2,tau=0.3 ",
        "command-all": "--objective emc2,tau=0.3 " + ENCODER,
        "ranks": "--objective simclr --shards 2",
    },
    "augment": {
        "command-augment": VIEW, "command-all": VIEW,
        "": "--seed 5 --size 8",
        "emc2-row": "--filter", "emc2-bank": "--filter",
    },
    "select": {
        "": "--seed 5 --batch 8 --epochs 14",
        "spectral": "--strategy spectral,block=128 --threads 1",
        "command-select": STRATEGY, "command-all": STRATEGY,
    },
    "negatives": {
        "emc2-row": "--filter --proposals row",
        "emc2-bank": "--filter --proposals bank",
        "command-negatives": WEIGH, "command-all": WEIGH,
    },
}

MPI = os.access(BIN + "/foil-train-mpi", os.X_OK) and shutil.which("mpirun")
RANKS = dict(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
             OMPI_MCA_rmaps_base_oversubscribe="1",
             OMPI_MCA_hwloc_base_binding_policy="none",
             OMPI_MCA_btl_tcp_if_include="lo", OMPI_MCA_oob_tcp_if_include="lo",
             PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
             PRTE_MCA_hwloc_default_binding_policy="none")


def kinds_of_runs():
    return [kind for kind in OPTIONS["train"] if kind and
            (MPI if kind == "ranks" else
             told.all or kind.startswith("command") == told.commands)
            and (told.all or kind != "ranks")]


def timeless(step):
    """A line of the metrics without what depends on the clock."""
    for part in (step, step.get("plan", {})):
        for key in ("seconds", "waited", "time", "exchanged", "slowest", "behind"):
            part.pop(key, None)
    return json.dumps(step, sort_keys=True)


class Run:
    """The stages of one run in a folder of its own."""

    def __init__(self, name, kind, augmenters):
        self.folder, self.kind = f"{work}/{name}", kind
        os.mkdir(self.folder, 0o700)
        self.clock = self.folder + ".clock"
        with open(self.clock, "wb") as clock:
            clock.write(bytes(8))
        self.env = dict(env, LD_PRELOAD=CLOCK, SKEWED_CLOCK=self.clock)
        if kind == "ranks":
            self.env.update(RANKS, TMPDIR=self.folder + ".tmp")
            os.mkdir(self.folder + ".tmp", 0o700)
        self.process, self.stopped = {}, set()
        self.asked, self.deaf = set(), []  # to end, and what did not
        self.dismissed = False  # by a trainer that was asked
        self.pages = []     # of foil-view and its readers
        self.started = {}  # when, or when it went on
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
        if tool == "train" and "--encoder " not in options:
            options += " " + NET
        command = [f"{BIN}/foil-{tool}", "-r", self.folder, *shlex.split(options)]
        if tool in ("augment", "select"):
            command.append(data)
        if name == "train" and self.kind == "ranks":
            command[0] += "-mpi"
            command[:0] = ["mpirun", "-n", "2"]
        self.asked.discard(name)
        self.started[name] = time.monotonic()
        with open(f"{self.folder}/{name}.log", "ab") as log:
            self.process[name] = subprocess.Popen(
                command, env=self.env, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)

    def set_clock(self, seconds):
        """All stages see a wall clock that is so far ahead of the right one.
        They have the file mapped, so it keeps its length."""
        with open(self.clock, "r+b") as clock:
            clock.write(seconds.to_bytes(8, sys.byteorder, signed=True))

    def pids(self, name):
        """The stage, or its ranks."""
        pid = self.process[name].pid
        if name != "train" or self.kind != "ranks":
            return [pid]
        return [int(rank) for rank in
                subprocess.run(["pgrep", "-f", f"/foil-train-mpi -r {self.folder} "],
                               capture_output=True, text=True, check=False)
                .stdout.split() if int(rank) != pid]

    def signal(self, pids, number):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self, name):
        """Of ranks one: the others end by themselves, and mpirun."""
        pids = self.pids(name) or [self.process[name].pid]
        until = time.monotonic() + GIVE_UP
        self.stopped.discard(name)
        self.signal([pids[self.steps() % len(pids)]], signal.SIGKILL)
        if name == "train" and self.kind == "ranks":
            self.signal(pids, signal.SIGCONT)
            while self.alive(name) or self.pids(name):
                time.sleep(0.02)
                if time.monotonic() > until:
                    self.deaf.append(name)
                    self.signal(self.pids(name) + [self.process[name].pid],
                                signal.SIGKILL)
                    break
        self.process[name].wait()

    def ask(self, name):
        """To end well."""
        self.go_on(name)
        self.asked.add(name)
        self.dismissed = self.dismissed or name == "train"
        ranks = name == "train" and self.kind == "ranks"
        self.signal([self.process[name].pid],
                    signal.SIGUSR1 if ranks else signal.SIGTERM)
        try:
            self.process[name].wait(GIVE_UP)
        except subprocess.TimeoutExpired:
            self.deaf.append(name)
            self.kill(name)

    def open_page(self):
        with open(f"{self.folder}.page", "wb") as at, \
                open(f"{self.folder}/view.log", "ab") as log:
            self.pages.append(subprocess.Popen(
                [f"{BIN}/foil-view", "--port", "0", "-r", self.folder], env=self.env,
                stdin=subprocess.DEVNULL, stdout=at, stderr=log))

    def read_page(self, reads):
        """A browser that listens to its events, or connects and never reads."""
        with open(f"{self.folder}.page", encoding="utf-8") as file:
            at, _, token = file.read().strip().partition("?")
        if not at:
            return  # it still starts
        reader = subprocess.Popen(["curl", "-sN", f"{at}events?{token}"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        if not reads:
            reader.send_signal(signal.SIGSTOP)
        self.pages.append(reader)

    def close_pages(self):
        for page in self.pages:
            page.kill()
            page.wait()
        self.pages = []

    def kill_program(self, name):
        """Of a stage with a command: 1 when one was there."""
        if name == "train" and self.kind == "ranks":
            return 0  # its children are ranks
        try:
            with open(f"/proc/{self.process[name].pid}/task/"
                      f"{self.process[name].pid}/children") as pids:
                for pid in pids.read().split():
                    os.killpg(int(pid), signal.SIGKILL)
                    return 1
        except OSError:
            pass
        return 0

    def stop(self, name):
        self.stopped.add(name)
        self.signal(self.pids(name), signal.SIGSTOP)

    def go_on(self, name):
        if name in self.stopped:
            self.stopped.remove(name)
            self.started[name] = time.monotonic()
            self.signal(self.pids(name), signal.SIGCONT)

    def alive(self, name):
        return self.process[name].poll() is None

    def gave_up(self):
        """The trainer lost its encoder twice between two checkpoints, and left
        what comes next to who started it: here, to be started again."""
        with open(self.folder + "/train.log", errors="replace") as log:
            return self.process["train"].poll() == 1 and \
                "failed a second time" in log.read()[-1000:]

    def steps(self):
        try:
            with open(self.folder + "/metrics.jsonl", "rb") as lines:
                return sum(1 for _ in lines)
        except OSError:
            return 0

    def end(self):
        """The trainer has ended: so must all others, by themselves."""
        ended = time.monotonic()
        left, until = self.deaf, ended + 40
        self.close_pages()
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


class Strikes:
    """What hits a run, one after the other, and when all of it is mended."""

    def __init__(self, run, rng, kills):
        self.run, self.rng = run, rng
        self.kills_left = kills
        self.kinds = [self.kill] * kills + [self.stop, *[self.jump] * JUMPS]
        if told.commands or told.all:
            self.kinds += [self.kill_programs] * 4
        if told.all:
            self.kinds += [self.page] * 2
        self.kinds = self.kinds if kills else []
        rng.shuffle(self.kinds)
        self.due = time.monotonic() + rng.uniform(0.1, 0.5)
        self.mending = []  # when, how, which stage

    def victims(self):
        alive = [n for n in self.run.names if self.run.alive(n)
                 and n.startswith(told.stage)]
        return self.rng.sample(alive, min(len(alive),
                                          self.rng.choice((1, 1, 1, 2, 3))))

    def kill(self, now):
        for name in self.victims():
            if told.all and self.rng.random() < 0.25:
                self.run.ask(name)
            else:
                self.run.kill(name)
            self.kills_left -= 1
            again = now + self.rng.choice((0, 0, 0.2, 1))
            self.mending.append((again, self.start, name))

    def kill_programs(self, _now):
        for name in self.victims():
            self.run.kill_program(name)

    def start(self, name):
        # whatever starts stages sees that the run is over, and starts no more
        over = self.run.process["select"].poll() == 0 and \
            "select" not in self.run.asked and not self.run.dismissed
        if name == "train" or not over:
            self.run.start(name)

    def stop(self, now):
        again = now + self.rng.uniform(*PAUSE)
        for name in self.victims():
            self.run.stop(name)
            self.mending.append((again, self.run.go_on, name))

    def jump(self, _now):
        self.run.set_clock(self.rng.choice((-3600, 3600)))

    def page(self, now):
        """A page is opened, read by one and not read by another, and killed."""
        if self.run.pages:
            return
        self.run.open_page()
        for reads in True, False:
            self.mending.append((now + 1, self.run.read_page, reads))
        self.mending.append((now + self.rng.uniform(2, 4),
                             lambda _: self.run.close_pages(), ""))

    def over(self):
        """No fault will come, and none is there."""
        return not self.kinds and not self.run.stopped and not self.mending

    def strike(self, now):
        """Whether something was hit."""
        if not self.kinds or now < self.due:
            return False
        kind = self.kinds.pop()
        if kind != self.kill or self.kills_left > 0:
            kind(now)
        self.due = now + self.rng.uniform(0.05, 0.5)
        return True

    def bring_back(self):
        """A trainer that was asked to end has ended the others with it."""
        for name in self.run.names:
            if self.run.dismissed and self.run.alive("train") and \
                    self.run.process[name].poll() == 0 and not self.hold(name):
                self.run.start(name)

    def mend(self, now):
        """Whether a stage goes on that stood still."""
        due = [one for one in self.mending if one[0] <= now]
        self.mending = [one for one in self.mending if one[0] > now]
        for _, how, name in due:
            how(name)
        return any(name in self.run.names for _, _, name in due)

    def hold(self, name):
        return any(name == one for _, _, one in self.mending)


def watch(run, rng, kills):
    """Lets a run go to its end under strikes; returns kills, the longest time
    without a step, and that when all was over."""
    strikes, longest, calm = Strikes(run, rng, kills), 0.0, 0.0
    steps, since, over_at = 0, time.monotonic(), None
    while True:
        time.sleep(0.02)
        now, at = time.monotonic(), run.steps()
        went_on = at != steps
        if went_on:
            steps, run.last = at, now
        if went_on and over_at:
            calm, over_at = max(calm, now - over_at), now
        if not over_at and strikes.over():
            over_at = now
        strikes.bring_back()
        mended = strikes.mend(now)
        struck = at > 20 and strikes.strike(now)
        if went_on or mended or struck or run.stopped:
            longest, since = max(longest, now - since), now
        if run.gave_up() and not strikes.hold("train"):
            run.start("train")
        over = not run.alive("train") and not strikes.hold("train")
        if over or now - since > GIVE_UP:
            for name in list(run.stopped):
                run.go_on(name)
            return kills - strikes.kills_left, max(longest, now - since), calm


class Storm:
    """Undisturbed runs of each kind, then disturbed ones, two at a time."""

    def __init__(self):
        self.kinds = kinds_of_runs()
        self.calm = {}
        self.number, self.killed, self.runs, self.bad = 0, 0, 0, 0
        self.longest, self.calmest = 0.0, 0.0

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
        rng = random.Random(f"{told.seed} {number}")
        kind = self.kinds[number % len(self.kinds)]
        run = Run(f"run{number}", kind, rng.randint(1, 8))
        return run, watch(run, rng, kills), run.end()

    def judge(self, run, done, stall, calm, left):
        code = run.process["train"].returncode
        same = code == 0 and run.result() == self.calm[run.kind]
        good = same and not left and stall < STALL and calm < told.calm
        self.runs, self.killed = self.runs + 1, self.killed + done
        self.longest = max(self.longest, stall)
        self.calmest = max(self.calmest, calm)
        augmenters = sum(n.startswith("augment") for n in run.names)
        self.report(
            good, f"{run.kind}, {augmenters} augmenters, {done} kills: "
            + ("same bits" if same else f"other bits, exit code {code}")
            + f", at most {stall:.1f} s without a step"
            + f", {calm:.1f} s when all was over"
            + (f", left: {' '.join(left)}" if left else ""), run)
        if good:
            shutil.rmtree(run.folder)
            os.unlink(run.clock)
            shutil.rmtree(run.folder + ".tmp", ignore_errors=True)
            if os.path.exists(run.folder + ".page"):
                os.unlink(run.folder + ".page")

    def blow(self, pool):
        for run, good in pool.map(self.undisturbed, self.kinds):
            self.report(good, f"undisturbed: {run.kind}", run)
            if good:
                self.calm[run.kind] = run.result()
        while (self.killed < told.kills and self.bad <= 20
               and len(self.calm) == len(self.kinds)):
            each = min(PER_RUN, -(-(told.kills - self.killed) // told.together))
            several = [pool.submit(self.disturbed, self.runs + i, each)
                       for i in range(told.together)]
            for one in several:
                run, (done, stall, calm), left = one.result()
                self.judge(run, done, stall, calm, left)


def main():
    for command in (["generate", "-o", data, "--size", "16", "512"],
                    ["index", data]):
        subprocess.run([BIN + "/foil-data", *command], env=env, check=True,
                       stderr=subprocess.DEVNULL)
    storm = Storm()
    with concurrent.futures.ThreadPoolExecutor(told.together) as pool:
        storm.blow(pool)
    print(f"# {storm.runs} runs, {storm.killed} kills, {storm.bad} bad, "
          f"longest time without a step {storm.longest:.1f} s, "
          f"{storm.calmest:.1f} s when all was over, seed {told.seed}")
    print(f"1..{storm.number}")
    if not storm.bad:
        shutil.rmtree(work)
    return storm.bad > 0


sys.exit(main())
