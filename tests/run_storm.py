#!/usr/bin/env python3
"""Pipelines with killed processes give the result of undisturbed ones.

usage: tests/run_storm.py [--kills N] [--seed N]     BIN: folder of the tools

Each run is a pipeline with a service of negatives.  One of its processes is killed by
SIGKILL again and again: foil run, the shell of the script, learn, a stage, or a
process that guards these.  When the pipeline has ended, none of its processes may
remain, and --resume continues it.  Checkpoint and losses must be those of an
undisturbed run.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 60.0  # seconds, until the last process has ended
PIPELINE = ["emc2", "--epochs", "12", "--batch", "8", "--threads", "1",
            "--restarts", "1000", "--augment", "--size 8", "--train",
            "--arch linear --head 16-8 --checkpoint-every 10"]


def environ(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return f.read().split(b"\0")
    except OSError:
        return []


def processes(run):
    """PID and command line of the script's shell and of its descendants."""
    mark, found = f"FOIL_RUN={run}".encode(), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if mark not in environ(pid):
            continue
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words != [""]:  # a zombie
            found.append((int(pid), words))
    return found


class Run:
    def __init__(self, folder, name, data):
        self.run = os.path.join(folder, name)
        self.first = ["foil", "run", *PIPELINE[:1], data, *PIPELINE[1:], "-r", self.run]
        self.log = open(self.run + ".log", "ab")
        self.process = None

    def start(self):
        words = self.first
        if os.path.exists(os.path.join(self.run, "command")):
            words = ["foil", "run", "--resume", "-r", self.run]
        self.process = subprocess.Popen(words, stdout=self.log, stderr=self.log)

    def kill_one(self, rng):
        """Kills a random process of a random kind; returns the kind."""
        kinds = {"foil run": [self.process.pid]}
        for pid, words in processes(self.run):
            name = os.path.basename(words[0])
            if name == "foil-run":
                name = "learn" if "--learn" in words else "foil-run"
            kinds.setdefault(name, []).append(pid)
        kind = rng.choice(sorted(kinds))
        try:
            os.kill(rng.choice(kinds[kind]), signal.SIGKILL)
        except ProcessLookupError:
            return None
        return kind

    def left(self):
        """Processes that remain after the time that the guards may take."""
        until = time.monotonic() + PATIENCE
        while (left := processes(self.run)) and time.monotonic() < until:
            time.sleep(0.05)
        return left

    def result(self):
        with open(os.path.join(self.run, "metrics.jsonl")) as f:
            losses = [json.loads(line)["loss"] for line in f]
        with open(os.path.join(self.run, "latest/model.safetensors"), "rb") as f:
            return losses, f.read()


def disturb(run, rng, counts):
    """Starts and kills until the run ends with 0; returns the fault or ''."""
    run.start()
    while True:
        try:
            code = run.process.wait(rng.uniform(0.2, 1.5))
        except subprocess.TimeoutExpired:
            kind = run.kill_one(rng)
            if kind:
                counts[kind] = counts.get(kind, 0) + 1
            continue
        left = run.left()
        if left:
            return f"processes remain: {left}"
        if not code:
            return ""
        run.start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    os.environ["PATH"] = os.path.abspath(os.environ["BIN"]) + ":" + os.environ["PATH"]
    os.environ["OMP_NUM_THREADS"] = "1"
    rng, counts, bad, runs = random.Random(args.seed), {}, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "set.tar")
        for words in (["generate", "--size", "8", "-o", data, "256"], ["index", data]):
            subprocess.run(["foil-data", *words], check=True, capture_output=True)
        calm = Run(folder, "calm", data)
        calm.start()
        if calm.process.wait(600):
            sys.exit("the undisturbed run failed")
        while sum(counts.values()) < args.kills:
            runs += 1
            run = Run(folder, f"run-{runs}", data)
            wrong = disturb(run, rng, counts)
            if not wrong and run.result() != calm.result():
                wrong = "the result differs from the undisturbed run's"
            if wrong:
                bad += 1
                print(f"run {runs} of seed {args.seed}: {wrong}")
                with open(run.run + ".log", errors="replace") as f:
                    print("".join(f.readlines()[-20:]))
    print(f"{sum(counts.values())} kills in {runs} runs, {bad} failed:", counts)
    sys.exit(bad > 0)


main()
