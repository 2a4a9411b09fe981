"""Kills of ranks: kill -9 of any rank, at random moments, again and again.

Each run takes a few seconds and has 1, 2 or 4 ranks. One rank is killed at a random
moment; then the run is resumed with another number of ranks, up to 6 times or until
the wanted number of kills is reached. mpirun and all ranks must end within a minute
(PATIENCE; 5 s is enough on an idle machine), and the run must end with the same arrays
as an undisturbed one, bit for bit. Every other run has norms over the batch. Prints TAP
and, at the end, figures. BIN is the folder of the tools; a run that fails keeps its
folder.
"""
import argparse
import glob
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--kills", type=int, default=6)
parser.add_argument("--seed", type=int, default=os.environ.get("SEED", 1))
args = parser.parse_args()
args.kills = int(os.environ.get("STORM", args.kills))
BIN = os.environ["BIN"]
EACH = 6        # kills of a run
PATIENCE = float(os.environ.get("PATIENCE", 60))    # seconds until mpirun has ended
LONG = 120      # seconds that one run of the trainer may take
NET = ["--arch", "resnet8", "--head", "16-8-bn", "--shards", "4", "--optim", "lars"]
KINDS = {"shard": [], "batch": ["--norm-over", "batch"]}
ENV = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_hwloc_base_binding_policy="none", OMPI_MCA_btl_tcp_if_include="lo",
           OMPI_MCA_oob_tcp_if_include="lo",
           PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe",
           PRTE_MCA_hwloc_default_binding_policy="none")
chance = random.Random(args.seed)
checks = failed = 0


def check(good, name):
    global checks, failed
    checks += 1
    failed += not good
    print("ok" if good else "not ok", checks, "-", name, flush=True)
    return good


def start(run, *words):
    with open(run + ".log", "a", encoding="utf-8") as log:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                env=ENV)


def feed(run):
    return [start(run, f"{BIN}/foil-augment", "-r", run, "--size", "8", "set.foil"),
            start(run, f"{BIN}/foil-select", "-r", run, "-b", "8", "-e", "20",
                  "--remainder", "keep", "set.foil")]


def train(run, size, options):
    """Starts or resumes a trainer with that many ranks."""
    return start(run, "mpirun", "-n", str(size), f"{BIN}/foil-train-mpi", "-r", run,
                 "--threads", "1", "--checkpoint-every", "3", "--deadline", "60",
                 "--resume", *NET, *options)


def ranks_of(run):
    """PIDs of ranks by rank number."""
    found = {}
    for folder in glob.glob("/proc/[0-9]*"):
        try:
            with open(folder + "/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(folder + "/environ", "rb") as file:
                settings = dict(x.split(b"=", 1) for x in file.read().split(b"\0") if x)
            here = os.readlink(folder + "/cwd") == os.getcwd()
        except (OSError, ValueError):
            continue
        if here and words[0].endswith(b"/foil-train-mpi") and run.encode() in words:
            found[int(settings.get(b"OMPI_COMM_WORLD_RANK", -1))] = \
                int(folder.rsplit("/", 1)[1])
    return found


def strike(run, trainer, after):
    """Kills a rank; returns the seconds until all ranks have ended, None if the run
    ended before, or 0 if no rank was there."""
    try:
        trainer.wait(after)
        return None
    except subprocess.TimeoutExpired:
        ranks = ranks_of(run)
    if not ranks:
        return 0
    victim = chance.choice(sorted(ranks))
    try:
        os.kill(ranks[victim], signal.SIGKILL)
    except ProcessLookupError:
        return 0
    began = time.monotonic()
    try:
        trainer.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        report_hung(run, trainer, victim, len(ranks), after)
    while ranks_of(run) and time.monotonic() < began + LONG:
        time.sleep(0.05)
    return time.monotonic() - began


def report_hung(run, trainer, victim, size, after):
    """Reports the ranks that remain after a rank was killed; then ends them."""
    print(f"# {run}: rank {victim} of {size} was killed {after:.2f} s after the start; "
          f"these still run: {ranks_of(run)}")
    with open(run + ".log", encoding="utf-8") as log:
        print("".join("# " + line for line in log.readlines()[-12:]))
    try:
        trainer.wait(LONG)
    except subprocess.TimeoutExpired:
        trainer.kill()


def arrays(run):
    found = {}
    for path in sorted(glob.glob(run + "/latest/*.safetensors")):
        with open(path, "rb") as file:
            found[os.path.basename(path)] = file.read()
    return found


def finish(run, size, options):
    trainer = train(run, size, options)
    try:
        return trainer.wait(LONG)
    except subprocess.TimeoutExpired:
        trainer.kill()
        return -1


def disturb(run, options, most, spans):
    """A run with at most that many kills; returns their number and the exit code."""
    feeders, kills, span = feed(run), 0, 0
    while kills < most and span is not None:
        trainer = train(run, chance.choice((1, 2, 4)), options)
        span = strike(run, trainer, chance.uniform(0.1, 2))
        if span == 0:   # no rank had started
            trainer.kill()
            trainer.wait()
        elif span:
            spans.append(span)
            kills += 1
    code = 0 if span is None else finish(run, chance.choice((1, 2, 4)), options)
    for feeder in feeders:
        feeder.kill()
        feeder.wait()
    return kills, code


def storm(calm):
    kills, runs, spans = 0, 0, []
    while kills < args.kills and not failed:
        kind = sorted(KINDS)[runs % 2]
        run = f"run-{runs}"
        made, code = disturb(run, KINDS[kind], min(EACH, args.kills - kills), spans)
        check(code == 0, f"{run}, norms over the {kind}, {made} kills: ends with 0")
        check(arrays(run) == calm[kind], f"{run}: same arrays as an undisturbed run")
        kills += made
        runs += 1
        if not failed:
            shutil.rmtree(run)
    check(max(spans, default=0) < PATIENCE, f"all ranks end in {PATIENCE:g} s")
    print(f"# {kills} kills in {runs} runs, all ranks ended after "
          f"{min(spans, default=0):.1f} to {max(spans, default=0):.1f} s")


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    subprocess.run([f"{BIN}/foil-data", "generate", "--size", "12", "-o", "pics.tar",
                    "60"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([f"{BIN}/foil-data", "index", "-o", "set.foil", "pics.tar"],
                   check=True, stdout=subprocess.DEVNULL)
    calm = {}
    for kind, options in KINDS.items():
        feeders = feed("calm-" + kind)
        check(finish("calm-" + kind, 1, options) == 0,
              f"norms over the {kind}: an undisturbed run ends with 0")
        calm[kind] = arrays("calm-" + kind)
        for feeder in feeders:
            feeder.wait()
    check(len(calm["shard"]) >= 4 and calm["shard"] != calm["batch"],
          "norms over shard and batch give different arrays")
    storm(calm)
    print(f"1..{checks}")
    if failed:
        print("# files of the run: " + folder)
    else:
        shutil.rmtree(folder)
    return failed > 0


raise SystemExit(main())
