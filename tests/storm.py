"""Kills, stops and clock jumps in small runs, until the wanted number of kills.

Runs take a few seconds, two at a time (--together). Faults hit the trainer, the
selector, the negatives service (a filter) or any of 1 to 8 augmenters, up to three of
them at the same moment; with --stage only that stage:

    kill -9, restarted at once or after a delay: up to 12 in a run, with --stage
             up to 40
    SIGSTOP  for LOW to HIGH seconds (--pause), once in a run
    a clock  that jumps an hour ahead or back, for all stages of a run: twice

The clock is that of tests/skewed_clock.c. The kinds of runs alternate:

    isogclr        per-sample states, shuffled plans
    emc2-row       Markov chains, a filter between selector and augmenters
    emc2-bank      the same with moves on a bank of features
    spectral       plans from the features of the epoch before

With --commands, the runs are those with a command of pipelines/commands in a stage,
or with the encoder of pipelines/examples: command-train, command-select,
command-augment (in all augmenters), command-negatives, command-all. There a fault may
also kill the program of a stage.

--all runs both kinds and, if there is foil-train-mpi, `ranks`: two ranks, and a kill
hits one of them. A quarter of the kills stop a stage by SIGTERM and restart it. Pages
are opened and killed: foil-view, a reader of its events, and a reader that stops.

A run must end by itself with the checkpoint and the metrics of an undisturbed run, bit
for bit (times apart). While no stage is stopped it must not go a minute without a step:
foil-select has the lowest priority, and on a busy machine a plan takes many seconds.
After the last fault no step may take longer than --calm seconds. Prints TAP and, at the
end, figures. BIN is the folder of the tools. A run that fails keeps its folder and
prints its name.
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
parser.add_argument("--stage", default="", help="only this stage gets faults")
parser.add_argument("--commands", action="store_true",
                    help="runs with commands in stages")
parser.add_argument("--all", action="store_true",
                    help="all kinds of runs and of faults")
parser.add_argument("--calm", type=float, default=60, metavar="SECONDS",
                    help="longest step after the last fault")
parser.add_argument("--pause", metavar="LOW-HIGH",
                    default=os.environ.get("PAUSE", "0.5-3"),
                    help="seconds for which stages are stopped")
parser.add_argument("--together", type=int, default=2, metavar="RUNS")
args = parser.parse_args()
if os.environ.get("B") == "asan":
    args.kills = min(args.kills, 16)
args.kills = int(os.environ.get("STORM", args.kills))
PAUSE = [float(seconds) for seconds in args.pause.split("-")]
HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(os.environ.get("BIN", "build/release/bin"))
CLOCK = os.path.join(os.path.dirname(BIN), "tests", "skewed_clock.so")
STALL = 60.0      # seconds without a step or a fault after which a run has failed
GIVE_UP = 120.0   # seconds without a step after which a run is stopped
PER_RUN = 40 if args.stage else 12
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
NET = "--arch linear --head 32-16"  # for runs with the trainer's own encoder

# options of each stage by kind of run; "" has those for all kinds
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
             args.all or kind.startswith("command") == args.commands)
            and (args.all or kind != "ranks")]


def timeless(step):
    """A line of the metrics without what depends on the clock."""
    for part in (step, step.get("plan", {})):
        for key in ("seconds", "waited", "time", "exchanged", "slowest_rank", "rank_lag"):
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
        self.asked, self.deaf = set(), []  # got SIGTERM; did not end after it
        self.dismissed = False  # a trainer that got SIGTERM ended its stages
        self.pages = []     # of foil-view and its readers
        self.started = {}  # when each stage was started or continued
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
        """Sets how far the stages' wall clock is ahead of the real one.  They have
        the file mapped, so its length stays the same."""
        with open(self.clock, "r+b") as clock:
            clock.write(seconds.to_bytes(8, sys.byteorder, signed=True))

    def pids(self, name):
        """PIDs of the stage or of its ranks."""
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
        """Kills the stage, or one of its ranks: then the others and mpirun end."""
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
        """Asks the stage to end: SIGTERM, or SIGUSR1 to mpirun."""
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
        """Subscribes to the page's events; reads them or never reads."""
        with open(f"{self.folder}.page", encoding="utf-8") as file:
            at, _, token = file.read().strip().partition("?")
        if not at:
            return  # foil-view has not printed its address yet
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
        """Kills the program of a stage; returns 1 if there was one."""
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
        """The trainer lost its encoder twice between two checkpoints and exited, so
        that its caller restarts it."""
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
        """After the trainer has ended, all others must end by themselves."""
        ended = time.monotonic()
        left, until = self.deaf, ended + 40
        self.close_pages()
        servers = [self.started[name] for name in self.process
                   if not name.startswith("augment")]
        for name, process in self.process.items():
            late = self.last - max(self.started[name], *servers) < 5
            if (name == "negatives" or late) and process.poll() is None:
                # a service waits for the next trainer; so does a stage that had not
                # reconnected by the last step
                process.terminate()
            try:
                process.wait(max(0.1, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                left.append(name)
                self.kill(name)
        return left

    def result(self):
        """Digests of all files that a run leaves, without times."""
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
    """The faults of one run, one after the other, and their repair."""

    def __init__(self, run, rng, kills):
        self.run, self.rng = run, rng
        self.kills_left = kills
        self.kinds = [self.kill] * kills + [self.stop, *[self.jump] * JUMPS]
        if args.commands or args.all:
            self.kinds += [self.kill_programs] * 4
        if args.all:
            self.kinds += [self.page] * 2
        self.kinds = self.kinds if kills else []
        rng.shuffle(self.kinds)
        self.due = time.monotonic() + rng.uniform(0.1, 0.5)
        self.mending = []  # when, function, its stage

    def victims(self):
        alive = [n for n in self.run.names if self.run.alive(n)
                 and n.startswith(args.stage)]
        return self.rng.sample(alive, min(len(alive),
                                          self.rng.choice((1, 1, 1, 2, 3))))

    def kill(self, now):
        for name in self.victims():
            if args.all and self.rng.random() < 0.25:
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
        # as foil run does: restarts no stage after the end of the run
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
        """Opens a page, a reader and a reader that never reads; kills all."""
        if self.run.pages:
            return
        self.run.open_page()
        for reads in True, False:
            self.mending.append((now + 1, self.run.read_page, reads))
        self.mending.append((now + self.rng.uniform(2, 4),
                             lambda _: self.run.close_pages(), ""))

    def over(self):
        """All faults have ended, and no more will come."""
        return not self.kinds and not self.run.stopped and not self.mending

    def strike(self, now):
        """Returns whether a fault was caused."""
        if not self.kinds or now < self.due:
            return False
        kind = self.kinds.pop()
        if kind != self.kill or self.kills_left > 0:
            kind(now)
        self.due = now + self.rng.uniform(0.05, 0.5)
        return True

    def bring_back(self):
        """Restarts stages that ended with a trainer that got SIGTERM."""
        for name in self.run.names:
            if self.run.dismissed and self.run.alive("train") and \
                    self.run.process[name].poll() == 0 and not self.hold(name):
                self.run.start(name)

    def mend(self, now):
        """Ends faults that are due; returns whether a stage runs again."""
        due = [one for one in self.mending if one[0] <= now]
        self.mending = [one for one in self.mending if one[0] > now]
        for _, how, name in due:
            how(name)
        return any(name in self.run.names for _, _, name in due)

    def hold(self, name):
        return any(name == one for _, _, one in self.mending)


def watch(run, rng, kills):
    """Runs to the end with faults; returns the number of kills, the longest time
    without a step, and the same for the time after the last fault."""
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
    """Undisturbed runs of each kind, then disturbed ones, several at a time."""

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
        rng = random.Random(f"{args.seed} {number}")
        kind = self.kinds[number % len(self.kinds)]
        run = Run(f"run{number}", kind, rng.randint(1, 8))
        return run, watch(run, rng, kills), run.end()

    def judge(self, run, done, stall, calm, left):
        code = run.process["train"].returncode
        same = code == 0 and run.result() == self.calm[run.kind]
        good = same and not left and stall < STALL and calm < args.calm
        self.runs, self.killed = self.runs + 1, self.killed + done
        self.longest = max(self.longest, stall)
        self.calmest = max(self.calmest, calm)
        augmenters = sum(n.startswith("augment") for n in run.names)
        self.report(
            good, f"{run.kind}, {augmenters} augmenters, {done} kills: "
            + ("same result" if same else f"other result, exit code {code}")
            + f", at most {stall:.1f} s without a step"
            + f", {calm:.1f} s after the last fault"
            + (f", did not end: {' '.join(left)}" if left else ""), run)
        if good:
            shutil.rmtree(run.folder)
            os.unlink(run.clock)
            shutil.rmtree(run.folder + ".tmp", ignore_errors=True)
            if os.path.exists(run.folder + ".page"):
                os.unlink(run.folder + ".page")

    def blow(self, pool):
        for run, good in pool.map(self.undisturbed, self.kinds):
            self.report(good, f"undisturbed run of {run.kind} ends with 0", run)
            if good:
                self.calm[run.kind] = run.result()
        while (self.killed < args.kills and self.bad <= 20
               and len(self.calm) == len(self.kinds)):
            each = min(PER_RUN, -(-(args.kills - self.killed) // args.together))
            several = [pool.submit(self.disturbed, self.runs + i, each)
                       for i in range(args.together)]
            for one in several:
                run, (done, stall, calm), left = one.result()
                self.judge(run, done, stall, calm, left)


def main():
    for command in (["generate", "-o", data, "--size", "16", "512"],
                    ["index", data]):
        subprocess.run([BIN + "/foil-data", *command], env=env, check=True,
                       stderr=subprocess.DEVNULL)
    storm = Storm()
    with concurrent.futures.ThreadPoolExecutor(args.together) as pool:
        storm.blow(pool)
    print(f"# {storm.runs} runs, {storm.killed} kills, {storm.bad} failed, "
          f"longest time without a step {storm.longest:.1f} s, "
          f"{storm.calmest:.1f} s after the last fault, seed {args.seed}")
    print(f"1..{storm.number}")
    if not storm.bad:
        shutil.rmtree(work)
    return storm.bad > 0


sys.exit(main())
