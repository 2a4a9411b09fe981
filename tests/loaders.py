"""loaders.py: other programs read the files that foil exports for them.

    python3 tests/loaders.py make DIR   # needs foil: three small runs and their exports
    python3 loaders.py check DIR        # on any machine, without foil

`make` trains three encoders for a step or two on generated images and writes the
exports of `foil embed` and `foil runs`, and foil's own features of the same images; it
takes half a minute and 100 MB. Copy DIR and this file to a machine that has some of
torch, torchvision, timm, transformers, open_clip, onnxruntime, pyarrow, pandas, duckdb
and tensorboard. `check` prints a line for each of them: its version and the largest
difference from foil's numbers, relative to the largest number. It skips programs that
are not installed. Exit code 1: a difference is above 1e-4, or a program fails.
"""
import glob
import gzip
import importlib
import json
import os
import shutil
import subprocess
import sys
import tarfile

RUNS = {"resnet": ["--arch", "resnet18,stem=imagenet"],
        "vit": ["--arch", "vit:32x2x8"],
        "pairs": ["--arch", "vit:32x1x8", "--text", "clip:32x2x2", "--embed", "16"]}


def make(folder):
    os.makedirs(folder)
    os.chdir(folder)

    def foil(*words):
        subprocess.run(["foil", *words], check=True, stderr=subprocess.DEVNULL)

    def train(run, extra):
        name = "clip" if run == "pairs" else "simclr"
        foil("run", name, "set.tar", "-r", run, "--size", "32", "--batch", "12", "--epochs", "2",
             "--augmenters", "1", "--threads", "1", "--lr", "0.01", *extra, *RUNS[run])

    foil("data", "generate", "-o", "set.tar", "--size", "32", "24")
    foil("data", "index", "set.tar")
    foil("data", "vocabulary", "--size", "600", "-o", "words.txt", "set.tar")
    foil("embed", "--raw", "--size", "32", "-o", "raw.npy", "set.tar")
    for run in RUNS:
        train(run, ["--vocabulary", "words.txt"] if run == "pairs" else [])
        foil("embed", "--export", run + ".d/", run)
        foil("embed", "-o", run + ".npy", run, "set.tar")
    foil("embed", "--onnx", "resnet.onnx", "resnet")
    foil("embed", "-o", "resnet.parquet", "resnet", "set.tar")
    foil("embed", "--projector", "board", "-o", "resnet.npz", "resnet", "set.tar")
    foil("embed", "--captions", "-o", "texts.npy", "pairs", "set.tar")
    foil("embed", "--layer", "z", "-o", "images.npy", "pairs", "set.tar")
    with tarfile.open("set.tar") as tar, open("texts.txt", "wb") as to:
        to.writelines(tar.extractfile(name).read().strip() + b"\n"
                      for name in sorted(tar.getnames()) if name.endswith(".txt"))
    foil("runs", "--tensorboard", "board", "resnet")
    for checkpoint in glob.glob("*/step-*"):
        shutil.rmtree(checkpoint)


# ------------------------------------------------------------------------- check

def load(name):
    import numpy
    return numpy.load(name)


def pixels(run):
    """The images, normalised for that run's encoder, [n,3,h,w]."""
    import numpy
    with open(run + ".d/config.json", encoding="utf-8") as file:
        about = json.load(file)["foil"]
    raw = load("raw.npy").reshape(-1, 32, 32, 3)
    mean, deviation = (numpy.array(about[k], "f4") for k in ("mean", "deviation"))
    return ((raw - mean) / deviation).transpose(0, 3, 1, 2).copy()


def off(got, want):
    import numpy
    got = got.detach().numpy() if hasattr(got, "detach") else got
    if got.shape != want.shape:
        raise ValueError(f"shape {got.shape}, not {want.shape}")
    return float(numpy.abs(got - want).max() / numpy.abs(want).max())


def features(run, net, of=lambda out: out):
    import torch
    with torch.no_grad():
        return off(of(net.eval()(torch.from_numpy(pixels(run)))), load(run + ".npy"))


def try_torch(torch):
    for run in RUNS:
        yield run, features(run, torch.hub.load(run + ".d", "encoder", source="local"))


def try_torchvision(torchvision):
    import torch
    sys.path.insert(0, "resnet.d")  # its hubconf.py reads safetensors without a package
    tensors = importlib.import_module("hubconf")._tensors("resnet.d/model.safetensors")
    net = torchvision.models.resnet18()
    missing, left = net.load_state_dict(tensors, strict=False)
    named = [name for name in missing if "num_batches" not in name]
    if left or sorted(named) != ["fc.bias", "fc.weight"]:
        raise ValueError(f"missing {named}, left {left}")
    net.fc = torch.nn.Identity()
    yield "resnet", features("resnet", net)


def try_timm(timm):
    for run in RUNS:
        yield run, features(run, timm.create_model(f"local-dir:{run}.d", pretrained=True))


def try_transformers(transformers):
    for run in RUNS:
        yield run, features(run, transformers.AutoModel.from_pretrained(run + ".d"),
                            lambda out: out.pooler_output)
    shape = transformers.AutoImageProcessor.from_pretrained("vit.d").data_config["input_size"]
    yield "size of images", float(list(shape) != [3, 32, 32])


def try_open_clip(open_clip):
    import torch
    net, _, _ = open_clip.create_model_and_transforms("local-dir:pairs.d")
    with open("pairs.d/vocabulary.txt", "rb") as file:  # as the folder's README says
        with gzip.open("vocabulary.txt.gz", "wb") as to:
            to.write(file.read())
    tokens = open_clip.tokenizer.SimpleTokenizer("vocabulary.txt.gz",
                                                 context_length=net.context_length)
    with open("texts.txt", encoding="utf-8") as file:
        texts = file.read().splitlines()
    with torch.no_grad():
        net.eval()
        yield "images", off(net.encode_image(torch.from_numpy(pixels("pairs"))), load("images.npy"))
        yield "texts", off(net.encode_text(tokens(texts)), load("texts.npy"))


def try_onnxruntime(onnxruntime):
    import numpy
    run = onnxruntime.InferenceSession("resnet.onnx", providers=["CPUExecutionProvider"])
    raw = load("raw.npy").reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2)
    yield "resnet", off(run.run(None, {"image": numpy.ascontiguousarray(raw)})[0], load("resnet.npy"))


def compare_table(table):
    """Difference between a table (a dictionary of lists) and the .npy files."""
    import numpy
    for name, file in (("id", "ids"), ("label", "labels")):
        if list(table[name]) != list(load(f"resnet.{file}.npy")):
            raise ValueError(f"column {name}")
    with open("resnet.classes", encoding="utf-8") as file:
        classes = file.read().splitlines()
    if list(table["class"]) != [classes[label] for label in table["label"]]:
        raise ValueError("column class")
    return off(numpy.array([list(row) for row in table["x"]], "f4"), load("resnet.npy"))


def try_pyarrow(_):
    from pyarrow import parquet
    table = parquet.read_table("resnet.parquet")
    about = json.loads(table.schema.metadata[b"foil"])
    if about["tool"] != "foil-embed":
        raise ValueError("metadata")
    yield f"a table {table.schema.names}", compare_table(table.to_pydict())


def try_pandas(pandas):
    try:
        yield "resnet.parquet", compare_table(pandas.read_parquet("resnet.parquet").to_dict("list"))
    except ImportError as why:
        print("     pandas: no reader of Parquet:", str(why).split("\n", 1)[0])
    z = load("resnet.npz")
    yield "resnet.npz", off(pandas.DataFrame(z["x"]).to_numpy(), load("resnet.npy"))


def try_duckdb(duckdb):
    rows = duckdb.sql("select id, label, class, x from 'resnet.parquet'").fetchall()
    yield "a query", compare_table(dict(zip(("id", "label", "class", "x"), zip(*rows))))


def try_tensorboard(_):
    import numpy
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    [path] = glob.glob("board/**/*tfevents*", recursive=True)
    events = EventAccumulator(path, size_guidance={"scalars": 0, "histograms": 0})
    events.Reload()
    with open("resnet/metrics.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    got = events.Scalars("train/loss")
    if [e.step for e in got] != [line["total"] for line in lines]:
        raise ValueError("steps")
    yield f"{len(events.Tags()['scalars'])} scalars", off(
        numpy.array([e.value for e in got]), numpy.array([line["loss"] for line in lines]))
    points = numpy.loadtxt("board/tensors.tsv", delimiter="\t", dtype="f4")
    yield "points of the projector", off(points, load("resnet.npy"))


def check(folder):
    os.chdir(folder)
    failed = 0
    for name in [name[4:] for name in globals() if name.startswith("try_")]:
        try:
            module = importlib.import_module(name)
        except ImportError as why:
            print(f"skip {name}: {why}")
            continue
        version = getattr(module, "__version__", "")
        try:
            for what, far in globals()["try_" + name](module):
                fine = far < 1e-4
                failed += not fine
                print("ok  " if fine else "FAIL", name, version, f"{what}: off by {far:.2g}", flush=True)
        except Exception as why:  # any exception of the program is a failure
            failed += 1
            print(f"FAIL {name} {version} {type(why).__name__}: {why}", flush=True)
    return failed > 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("make", "check"):
        sys.exit(__doc__)
    del sys.path[0]  # tests/tensorboard.py would hide the package
    sys.exit(globals()[sys.argv[1]](sys.argv[2]))
