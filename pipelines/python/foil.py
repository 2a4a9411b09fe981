"""foil in Python: main steps of stages, a data loader, and files of runs.

    import foil

    foil.encode(net, head, optim)    # foil-train --encoder 'python3 this.py'
    foil.plan_batches(plan)          # foil-select --strategy-command
    foil.make_views(view)            # foil-augment --view-command
    foil.weigh_negatives(weigh)      # foil-negatives --weigh-command
    foil.judge_checkpoints(judge)    # foil-eval follow --eval-command

    run = foil.train("d.foil", net, head, objective="isogclr", epochs=50)
    for batch in foil.views("d.foil", batch=128):  # views for a loop of your
        ...                                        # own, by foil-augment
    loss = foil.objective("isogclr", n=50000)      # its objective, in process

    foil.events("run", "metrics"), foil.Dataset("d.foil"),
    foil.features("x.npy"), foil.checkpoint("run")

foil-python(7) is its manual.  Needs python3-numpy, and foil's tools on PATH.
foil_torch.py is imported by what needs PyTorch: encode(), train() of a network.
"""
import collections
import collections.abc
import contextlib
import ctypes
import functools
import glob
import itertools
import json
import math
import mmap
import os
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import types
import typing
import weakref

import numpy as np

if typing.TYPE_CHECKING:
    import torch

__version__ = "1.0.0"
__all__ = [
    "Batch", "Dataset", "Event", "Pairs", "Run", "answers", "checkpoint", "encode",
    "events", "features", "judge_checkpoints", "make_views", "objective", "objectives",
    "plan_batches", "train", "views", "weigh_negatives"]

# -------------------------------------------------------- commands of a stage


def _words(line):
    """The NAME=VALUE words of a request; values are numbers if they look like it."""
    def number(text):
        try:
            return int(text)
        except ValueError:
            pass
        try:
            return float(text)
        except ValueError:
            return text
    words = (word.split("=", 1) for word in line.split() if "=" in word)
    return types.SimpleNamespace(**{k.replace("-", "_"): number(v)
                                    for k, v in words})


class _Printed:
    """Standard output of a command: print() goes to standard error.  A printed
    answer would be lost there, so it is an error until a function of this module
    answers."""

    def __init__(self):
        self.answers = os.fdopen(os.dup(1), "w")
        self.stdout = sys.stdout
        os.dup2(2, 1)

    def write(self, text):
        if not _ours and text.split()[:1] in (["ok"], ["error"]):
            raise RuntimeError(
                f"'{text.strip()}' is printed as an answer, but print() goes to "
                "standard error after 'import foil': use print(..., "
                "file=foil.answers)")
        return self.stdout.write(text)

    def __getattr__(self, name):
        return getattr(self.stdout, name)


_ours = False  # whether a function of this module answers
answers: typing.TextIO = sys.stdout
if "FOIL_MEMORY" in os.environ:
    sys.stdout = _printed = _Printed()  # type: ignore[assignment]
    answers = _printed.answers


def _serve(answer):
    """Answers each line of standard input, by answer(line): the text after "ok", or
    (lines, that text).  An exception is an error of the stage."""
    global _ours
    _ours = True
    for line in sys.stdin:
        try:
            got = answer(line.rstrip("\n"))
        except Exception as e:
            traceback.print_exc()
            why = f"{type(e).__name__}: {e}".splitlines()[0]
            print("error", why, file=answers, flush=True)
            continue
        lines, ok = got if isinstance(got, tuple) else ((), got)
        print(*lines, f"ok {ok}".rstrip(), sep="\n", file=answers, flush=True)


def _memory():
    return np.memmap(os.environ["FOIL_MEMORY"], "u1", "r+")


def plan_batches(plan: typing.Callable) -> None:
    """Plans epochs for foil-select --strategy-command: plan(o) returns the
    batches of epoch o.epoch, arrays of ids, or one array that is cut into them.

    An epoch has o.samples of the data set in o.batches batches of o.size, the
    first o.larger of them with one more; o.seed is the selector's; o.features
    f4 [2,samples,dims] are those of both views, nan for samples without any,
    or None.
    """
    def answer(line):
        o = _words(line)
        o.features = np.load(os.environ["FOIL_MEMORY"], mmap_mode="r") \
            if o.dims else None
        batches = plan(o)
        if isinstance(batches, np.ndarray) and batches.ndim == 1:
            ends = np.full(o.batches, o.size)
            ends[:o.larger] += 1
            batches = np.split(batches, ends.cumsum()[:-1])
        return [" ".join(map(str, np.asarray(ids).tolist()))
                for ids in batches], ""
    _serve(answer)


def make_views(view: typing.Callable, mix: typing.Callable | None = None) -> None:
    """Makes views for foil-augment --view-command: view(image, size, rng) takes
    u1 [h,w,3] and returns u1 [size,size,3].  Draw random numbers only from
    rng, a Generator of numpy that depends on sample, epoch, view and seed.

    mix(views, batch, rng) may change all views of a batch, u1 [rows,size,size,3],
    and returns numbers of each row for a loss, f4 [rows,k], as batch.made.  batch
    has samples, their number, and ids [rows].
    """
    def answer(line):
        o, memory = _words(line), _memory()
        views = memory[:o.rows * o.size ** 2 * 3].reshape(
            o.rows, o.size, o.size, 3)
        table = memory[o.table:][:o.rows * 40].view("i8").reshape(o.rows, 5)
        for out, (at, height, width, _, seed) in zip(views, table.tolist()):
            image = memory[at:at + height * width * 3]
            out[:] = view(image.reshape(height, width, 3), o.size,
                          np.random.default_rng(seed))
        if not mix:
            return ""
        o.ids = table[:, 3].copy()
        made = np.ascontiguousarray(
            mix(views, o, np.random.default_rng(table[:, 4].tolist())), "f4")
        if made.ndim != 2 or len(made) != o.rows or not 0 < made.shape[1] <= 10:
            raise ValueError(f"mix() returned numbers {list(made.shape)}: want "
                             f"[{o.rows},k], k from 1 to 10")
        memory[o.table:][:made.nbytes].view("f4")[:] = made.ravel()
        return f"made={made.shape[1]}"
    _serve(answer)


class Pairs:
    """A batch to be weighed.

    z        f4 [n,d], of unit length: the `anchors` views of the batch, view
             by view, then further negatives
    owner    i8 [n] the sample of each
    views, batch, beta, epoch, step
    kept     u1 [--keep]: a table that the program may change; the trainer stores
             it, and it is as after the last step, whatever was killed
    """

    def __init__(self, o, memory):
        self.__dict__.update(vars(o))
        self.anchors = o.rows
        self.z = memory[o.z:][:o.columns * o.dims * 4].view("f4").reshape(
            o.columns, o.dims)
        self.owner = memory[o.owner:][:o.columns * 8].view("i8")
        self.kept = memory[o.keep:][:o.bytes]

    def similarities(self):
        """z z^T of the anchors, -inf for two rows of one sample."""
        s = self.z[:self.anchors] @ self.z.T
        s[self.owner[:self.anchors, None] == self.owner] = -np.inf
        return s


def weigh_negatives(weigh: typing.Callable) -> None:
    """Weighs for foil-negatives --weigh-command: weigh(pairs) returns w
    [anchors,n], not negative, each row with the sum 1; or (w, values), with
    numbers for the metrics."""
    def answer(line):
        memory = _memory()
        pairs = Pairs(_words(line), memory)
        got = weigh(pairs)
        w, values = got if isinstance(got, tuple) else (got, {})
        memory[:w.size * 4].view("f4")[:] = np.asarray(w, "f4").ravel()
        return " ".join(f"{k}={float(v)!r}" for k, v in values.items())
    _serve(answer)


def judge_checkpoints(judge: typing.Callable) -> None:
    """Evaluates for foil-eval follow --eval-command: judge(folder, step) returns
    the result of a checkpoint, a dict for JSON."""
    def answer(line):
        _, step, folder = line.split(" ", 2)
        return [json.dumps(judge(folder, _words(step).step))], ""
    _serve(answer)


def encode(net: "torch.nn.Module", head: "torch.nn.Module | None" = None,
           optim: "torch.optim.Optimizer | None" = None,
           device: "str | torch.device" = "cpu",
           autocast: "torch.dtype | None" = None,
           text: "torch.nn.Module | None" = None,
           text_head: "torch.nn.Module | None" = None,
           loss: typing.Callable | None = None, ranks: int = 1,
           backend: str | None = None, timeout: float = 600,
           sums: bool | None = None, data: str | None = None) -> None:
    """The encoder of foil-train --encoder in PyTorch, by foil-encoder(5).  Returns
    at the end of the run.  foil-python(7) has the arguments."""
    import foil_torch
    foil_torch.encode(dict(net=net, head=head, text=text, text_head=text_head),
                      optim, device, autocast, loss, ranks, backend, timeout,
                      sums, data)


# ------------------------------------------------------------------- data sets

def _find_tool(name: str) -> str:
    path = shutil.which(name)
    if not path:
        raise FileNotFoundError(f"no '{name}' on PATH: foil's tools have to be there")
    return path


def _find_data(path: str) -> None:
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no data set '{path}'")


def _output(tool: str, *words: str) -> str:
    """The standard output of a tool."""
    done = subprocess.run([_find_tool(tool), *words], capture_output=True)
    if done.returncode:
        raise OSError(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode(errors="surrogateescape")


class Dataset:
    """A data set of foil by its index: dataset[id] is the file of an image, as
    bytes."""

    def __init__(self, path: str) -> None:
        cut = lambda line: [cell.replace("\\\\", "\0").replace("\\t", "\t")
                            .replace("\\n", "\n").replace("\0", "\\")
                            for cell in line.split("\t")]
        _find_data(path)
        head, *rows = map(cut, _output("foil-data", "list", "--where",
                                       path).splitlines())
        info = dict(line.split("\t", 1)
                    for line in _output("foil-data", "info", path).splitlines())
        table: dict = dict(zip(head, zip(*rows)))
        self.digest, self.size = info["digest"], len(rows)
        self.labels = np.array(table["label"], "i8")
        self.classes, self.names = table["class"], table["name"]
        self.captions = [c.split("\n") if c else [] for c in table["caption"]]
        self._where = list(zip(table["file"], map(int, table["offset"]),
                               map(int, table["bytes"])))
        self._open: dict[str, int] = {}

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i: int) -> bytes:
        path, offset, length = self._where[i]
        if path not in self._open:
            if len(self._open) >= 64:
                os.close(self._open.pop(next(iter(self._open))))
            self._open[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        data = os.pread(self._open[path], length, offset)
        if len(data) < length:
            raise OSError(f"'{self.names[i]}' is cut off")
        return data


# ---------------------------------------------------------------------- events

Event = collections.namedtuple("Event", "kind head tensors")


def events(run: str, *kinds: str, timeout: float | None = None,
           keys: str | None = None, allow: str | None = None,
           ) -> collections.abc.Iterator[Event]:
    """Publications of a trainer, as (kind, head, tensors): "metrics",
    "features", "event", or all; by foil-tap.  Ends when the run ends, or after
    `timeout` seconds without a message."""
    wanted = set(kinds or ("metrics", "features", "event"))
    command = ["foil-tap", "-f", "-k", " ".join(wanted)]
    command += ["--keys", keys, "--allow", allow or ""] if keys else []
    command += ["events", run] if "://" in run else ["-r", run, "events"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tap:
        assert tap.stdout
        try:
            while timeout is None or \
                    select.select([tap.stdout], [], [], timeout)[0]:
                line = tap.stdout.readline()
                if not line:
                    break
                message = json.loads(line)
                yield Event(message["kind"], message["header"],
                            {t["name"]: np.array(t["data"], _TYPES[t["dtype"]])
                             .reshape(t["shape"])
                             for t in message["tensors"]})
        finally:
            tap.terminate()
    if tap.returncode not in (0, -15):
        raise OSError(f"foil-tap ended with {tap.returncode}")


_TYPES = {"u1": "u1", "i4": "<i4", "i8": "<i8", "f4": "<f4", "f8": "<f8",
          "f2": "<f2"}


# ----------------------------------------------------------------------- files

def features(path: str) -> types.SimpleNamespace:
    """The output of foil-embed: x f4 [n,d], ids, labels (or None), about."""
    base = path[:-4] if path.endswith(".npy") else path
    has = lambda end: os.path.exists(base + end)
    with open(base + ".json") as f:
        about = json.load(f)
    return types.SimpleNamespace(
        x=np.load(base + ".npy"), ids=np.load(base + ".ids.npy"),
        labels=np.load(base + ".labels.npy") if has(".labels.npy") else None,
        about=about)


_SAFE = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I64": "<i8", "I32": "<i4",
         "U8": "u1", "BOOL": "?", "BF16": "<u2"}


def _read_safetensors(path):
    """Arrays by name; those of bf16 are f4."""
    with open(path, "rb") as f:
        data = f.read()
    n = struct.unpack("<Q", data[:8])[0]
    out, head = {}, json.loads(data[8:8 + n])
    head.pop("__metadata__", None)
    for name, about in head.items():
        a = np.frombuffer(data, _SAFE[about["dtype"]],
                          math.prod(about["shape"]),
                          8 + n + about["data_offsets"][0])
        if about["dtype"] == "BF16":
            a = (a.astype("<u4") << 16).view("<f4")
        out[name] = a.reshape(about["shape"]).copy()
    return out


def checkpoint(path: str) -> types.SimpleNamespace:
    """A checkpoint, or the newest of a run directory, verified:
    foil-checkpoint(5).

    model, head, text, optim, samples
                   arrays by their names; {} where there is no such file
    config         all of config.json
    folder, files  where it is; the names of its files
    """
    lib, why = _libfoil(), ctypes.create_string_buffer(512)
    found = ctypes.c_void_p(lib.nn_checkpoint_need(os.fsencode(path), why))
    if not found:
        raise FileNotFoundError(why.value.decode())
    folder = os.fsdecode(ctypes.string_at(found))
    ctypes.CDLL(None).free(found)
    if lib.nn_checkpoint_verify(os.fsencode(folder), why):
        raise ValueError(why.value.decode())
    at = lambda name: os.path.join(folder, name)
    with open(at("config.json")) as f:
        config = json.load(f)
    load = lambda name: _read_safetensors(at(name + ".safetensors")) \
        if os.path.exists(at(name + ".safetensors")) else {}
    return types.SimpleNamespace(
        folder=folder, files=sorted(os.listdir(folder)), config=config,
        **{k: load(k) for k in ("model", "head", "text", "optim", "samples")})


# ------------------------------------------------------------------- objective

class _Batch(ctypes.Structure):  # train/objective.h
    _fields_ = [("b", ctypes.c_size_t), ("extra", ctypes.c_size_t),
                ("constant", ctypes.c_size_t), ("d", ctypes.c_size_t),
                ("ids", ctypes.c_void_p), ("captions", ctypes.c_void_p),
                ("z", ctypes.c_void_p), ("weights", ctypes.c_void_p),
                ("scale", ctypes.c_void_p), ("look", ctypes.c_int),
                ("views", ctypes.c_size_t), ("positive_views", ctypes.c_size_t)]


def _libfoil():
    """$LIBFOIL, or that of the system, of foil's installation or of its source, which
    has this file or the tools on PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    tools = os.path.dirname(os.path.realpath(shutil.which("foil") or here))
    names = [os.environ["LIBFOIL"]] if "LIBFOIL" in os.environ else [
        "libfoil.so.1", *glob.glob(here + "/../../../../lib*/libfoil.so.1"),
        *glob.glob(here + "/../../build/release/libfoil.so.1"),
        *glob.glob(tools + "/../lib*/libfoil.so.1"), tools + "/../libfoil.so.1"]
    for name in names:
        try:
            lib = ctypes.CDLL(name)
        except OSError:
            continue
        lib.train_objective_open.restype = ctypes.c_void_p
        lib.train_objective_name.restype = ctypes.c_char_p
        lib.nn_checkpoint_need.restype = ctypes.c_void_p
        return lib
    raise OSError("no libfoil.so.1 is found: give its path in LIBFOIL")


def objectives() -> list[str]:
    """The names of all objectives."""
    lib = _libfoil()
    names = map(lib.train_objective_name, map(ctypes.c_size_t, range(1000)))
    return [name.decode() for name in itertools.takewhile(bool, names)]


class objective:
    """An objective of foil with its state of each sample, for a loop of your
    own:

        loss = foil.objective("isogclr", n=50000, rho=0.3)
        value, dz = loss(ids, z)        # z [2b,d]: view 0 of all, then view 1
        z.backward(dz)

    z is of numpy or PyTorch, and so is dz; loss.tensor(ids, z) is the value as a
    tensor with backward().  state is a dictionary of arrays by sample, metrics one
    of numbers, scalars one of (value, gradient) of learnt scalars, for an optimiser
    and set(name=value), which also sets parameters.
    """

    def __init__(self, name, n=0, captions=0, **params):
        self._made, self._changed = ((name, n, captions), params), {}
        self._lib, self._why = _libfoil(), ctypes.create_string_buffer(512)
        text = json.dumps({k.replace("_", "-"): v for k, v in params.items()})
        self._it = ctypes.c_void_p(self._lib.train_objective_open(
            name.encode(), text.encode(), ctypes.c_size_t(n),
            ctypes.c_size_t(captions), self._why))
        if not self._it:
            raise ValueError(self._why.value.decode())

    def __getstate__(self):
        """For copies, pickle and torch.save."""
        with tempfile.TemporaryDirectory(prefix="foil-") as folder:
            self.save(folder)
            with open(folder + "/samples.safetensors", "rb") as f:
                return self._made, self._changed, f.read()

    def __setstate__(self, state):
        (words, params), changed, columns = state
        self.__init__(*words, **params)
        self.set(**changed)
        with tempfile.TemporaryDirectory(prefix="foil-") as folder:
            with open(folder + "/samples.safetensors", "wb") as f:
                f.write(columns)
            self.load(folder)

    def __del__(self):
        if getattr(self, "_it", None):
            self._lib.train_objective_close(self._it)

    def _do(self, verb, *words):
        got = getattr(self._lib, "train_objective_" + verb)(
            self._it, *words, self._why)
        if got < 0:
            raise ValueError(self._why.value.decode())
        return got

    def __call__(self, ids, z, weights=None, scale=None, extra=0, constant=0,
                 captions=None, look=False, views=2, positive_views=0):
        """value, dz of a batch of len(ids) samples with `views` rows each, of which
        the first `positive_views` (0: all) are positives of the others.  The last `extra` rows of z
        are negatives only, the last `constant` of these get no gradient.  With
        look the state does not change."""
        rows = _numbers(z, "f4")
        arrays = [_numbers(x, t) if x is not None else None for x, t in (
            (ids, "i8"), (captions, "i4"), (weights, "f4"), (scale, "f4"))]
        b, n = len(ids), views * len(ids)
        shapes = [(b,), (b,), (n, n + extra), (n, 2)]
        if rows.ndim != 2 or len(rows) != n + extra or constant > extra or any(
                a is not None and a.shape != s for a, s in zip(arrays, shapes)):
            raise ValueError(f"want z [{n + extra},d] of {b} samples, ids and "
                             f"captions [{b}], weights [{n},{n + extra}], "
                             f"scale [{n},2]")
        at = [a.ctypes.data if a is not None else None for a in arrays]
        dz, value = np.empty((len(rows) - constant, rows.shape[1]), "f4"), \
            ctypes.c_double()
        batch = _Batch(b, extra, constant, rows.shape[1], *at[:2],
                       rows.ctypes.data, *at[2:], look, views, positive_views)
        if self._do("step", ctypes.byref(batch),
                    ctypes.c_void_p(dz.ctypes.data), ctypes.byref(value)):
            raise FloatingPointError("loss, gradient or state is not finite; "
                                     "the state has not changed")
        return value.value, dz if isinstance(z, np.ndarray) else _like(dz, z)

    def tensor(self, ids, z, **how):
        """The value as a scalar of PyTorch, with a gradient for z."""
        import foil_torch
        return foil_torch.objective_value(self, ids, z, how)

    def _list(self, what, *kinds):
        """(name, number ...) of each, of these kinds"""
        name, out = ctypes.c_char_p(), [kind() for kind in kinds]
        ask, i = getattr(self._lib, "train_objective_" + what), 0
        while ask(self._it, ctypes.c_size_t(i), ctypes.byref(name),
                  *map(ctypes.byref, out)):
            yield name.value.decode(), *(x.value for x in out)
            i += 1

    @property
    def metrics(self):
        return dict(self._list("metric", ctypes.c_double))

    @property
    def scalars(self):
        return {name: (value, slope) for name, value, slope in
                self._list("scalar", ctypes.c_double, ctypes.c_double)}

    @property
    def state(self):
        out, ask, by = {}, self._lib.train_objective_column, ctypes.byref
        name, count = ctypes.c_char_p(), ctypes.c_size_t()
        for i in range(1000):
            words = self._it, ctypes.c_size_t(i), by(name), by(count)
            if not ask(*words, None):
                return out
            column = np.empty(count.value, "f4")
            ask(*words, ctypes.c_void_p(column.ctypes.data))
            key = name.value.decode()
            out[key + ".1" if key in out else key] = column

    def set(self, **values):
        for name, value in values.items():
            names = [name, name.replace("_", "-")]
            known = name in self.scalars
            self._do("set", names[not known].encode(), ctypes.c_double(value))
            self._changed[name] = value

    def save(self, folder):
        self._do("save", os.fsencode(folder))

    def load(self, folder):
        self._do("load", os.fsencode(folder))


def _like(array, tensor):
    """The array as a tensor like `tensor`, on its device; does not import PyTorch."""
    new = getattr(tensor, "new_tensor", None)
    return new(array) if new else array


# ---------------------------------------------------------------------- loader

class Batch:
    """A batch of the plan.

    views        u1 [v,b,h,w,3], with captions [1,b,h,w,3]; the next batch
                 overwrites this memory
    small        those of a second size, u1 [u,b,y,x,3], or None
    ids          i8 [b]
    extra, extra_ids  further images, which are negatives only: u1 [r,h,w,3] and
                 i8 [r]; with captions only their texts
    tokens, lengths  of captions: i8 [b + r,most], 0 after the ends, and i8
                 [b + r]; else None
    made         numbers of the program that makes the views, f4 [v b,k], or None
    encode_only  only features are requested, without training
    epoch, step, steps, epochs
    """

    def __init__(self, place, pixels, ids, encode_only, tokens, lengths):
        b = place.samples
        v = 1 if lengths is not None else (len(pixels) - place.extra) // b
        self.views = pixels[:v * b].reshape(v, b, *pixels.shape[1:])
        self.extra, self.tokens, self.lengths = pixels[v * b:], tokens, lengths
        self.small = None
        self.ids, self.extra_ids = ids[:b], ids[b:]
        self.encode_only, self._pixels, self._z = encode_only, pixels, None
        self.epoch, self.step, self.made = place.epoch, place.step, None
        self.steps, self.epochs = place.steps, place.epochs
        self._report = "loss=0"

    def __len__(self):
        return len(self.ids)

    def images(self):
        """u1 [v b + r,h,w,3]: views, then further images; with captions [b,...]."""
        return self._pixels

    def done(self, z=None, loss=0.0, **metrics):
        """Reports that the batch is trained.  z are the embeddings of images(), then
        those of texts: for strategies that plan from features."""
        self._z = None if z is None else _numbers(z, "f4")
        self._report = " ".join(f"{k}={float(v)!r}" for k, v in
                              {"loss": loss, **metrics}.items())


def _numbers(x, dtype):
    if hasattr(x, "detach"):  # NumPy has no bfloat16
        x = x.detach().float().cpu() if dtype == "f4" else x.detach().cpu()
    return np.ascontiguousarray(x, dtype)


class _Loader:
    """The encoder side of foil-encoder(5), for a foil-train that only loads data."""

    def __init__(self, dim, wants_z, last):
        self.dim, self.wants_z, self.last, self.report = dim, wants_z, last, ""
        self.shape, self.slots, self.z = {}, {}, {}

    def open(self, tower, o):
        self.shape[tower] = [vars(o)[k] for k in (
            "rows", "height", "width", "channels", "context") if k in vars(o)]
        self.small = o if "small" in vars(o) else None

    def layout(self, tower, at, path):
        with open(path, "r+b") as f:
            memory = mmap.mmap(f.fileno(), at.size)
        def array(place, dtype, *shape):
            return np.frombuffer(memory, dtype, math.prod(shape), place).reshape(shape)
        shape = rows, *_ = self.shape[tower]
        self.slots[tower] = [array(x, "u1", *shape) if tower == "image" else (
            array(x, "i8", rows + 1), array(x + 8 * rows + 8, "i4", math.prod(shape)))
            for x in (at.input0, at.input1)]
        self.z[tower] = array(at.z, "f4", rows, self.dim)
        if tower == "image":
            self.made = array(at.made, "f4", 10 * rows)
        self.ids = array(at.ids, "i8", rows)
        self.z[tower][:] = 1

    def _texts(self, slot, n):
        ends, ids = self.slots["text"][slot]
        lengths = np.diff(ends[:n + 1])
        there = np.arange(lengths.max(initial=0)) < lengths[:, None]
        tokens = np.zeros(there.shape, "i8")
        tokens[there] = ids[ends[0]:ends[n]]
        return tokens, lengths

    def make_batch(self, tower, o):
        small = None
        if tower == "image":
            self.pixels, self.rows = self.slots[tower][o.slot][:o.to], o.to
        if (s := self.small) and tower == "image":
            n = self.place.samples
            self.pixels, rest = np.split(self.slots[tower][o.slot], [
                n * (s.views - s.small)])
            shape = s.small, n, s.small_height, s.small_width, s.channels
            small = rest.reshape(-1)[:math.prod(shape)].reshape(shape)
        if tower != self.last:
            return None
        n = self.place.samples + self.place.extra
        texts = self._texts(o.slot, o.to) if tower == "text" else (None, None)
        batch = Batch(self.place, self.pixels, self.ids[:n].copy(), o.mode != "train",
                      *texts)
        batch.small = small
        if k := self.place.made:
            rows = len(self.pixels) - len(batch.extra)
            batch.made = self.made[:rows * k].reshape(rows, k).copy()
        return batch

    def finish(self, batch):
        self.report = batch._report
        if batch._z is not None:
            if not np.isfinite(batch._z).all():
                raise ValueError("done(z=...): z is not finite")
            parts = np.split(batch._z, [self.rows])
            for mine, z in zip(self.z.values(), parts):
                mine[:len(z)] = z
        elif self.wants_z:
            raise ValueError("keep_features needs batch.done(z=...)")


class views:
    """Batches of augmented views for a loop of your own, each a Batch:

        for batch in foil.views("photos.foil", batch=128, epochs=50, size=32):
            x = torch.from_numpy(batch.images())

    A loop starts foil-select, foil-augment and a foil-train with the loop as its
    encoder, and ends them with it; so does `with`.  len() is the number of batches.

    size      width and height of views; 0: of the recipe
    views     of each image, v, or text of foil-augment -v, as 2x32+6x16
    select    more options of foil-select; augment, train likewise
    vocabulary  a file of foil-data: batches have captions, as tokens

    With keep_features, a number of epochs, and batch.done(z=...), [v b + r,dim],
    strategies plan from features.
    """

    def __init__(self, data: str, batch: int = 128, epochs: int = 1, size: int = 0,
                 seed: int = 0, augmenters: int = 1, window: int = 8,
                 strategy: str = "shuffle", recipe: str | None = None,
                 keep_features: int = 0, dim: int = 1, select: str = "",
                 augment: str = "", train: str = "", deadline: float = 60.0,
                 vocabulary: str | None = None, views: int | str = 2) -> None:
        self._made = {k: v for k, v in locals().items() if k != "self"}
        _find_data(data)
        texts = lambda *w: [*w, "--vocabulary", vocabulary] if vocabulary else []
        self._train = ["--objective", "external", "--window", str(window),
                       "--keep-features", str(keep_features), "--deadline",
                       str(deadline), *texts("--text", "program"),
                       *shlex.split(train)]
        self._select = ["--strategy", strategy, "-b", str(batch), "-e", str(epochs),
                        "-s", str(seed), *shlex.split(select), data]
        self._augment = ["-s", str(seed), "--size", str(size),
                         *(["--recipe", recipe] if recipe else []),
                         *(["-v", str(views)] if views != 2 else []),
                         *texts("-v", "1"), *shlex.split(augment), data]
        self._loops: weakref.WeakSet = weakref.WeakSet()

    def __len__(self) -> int:
        plan = json.loads(_output("foil-select", "--dry-run", *self._select))
        return plan["batches"] * self._made["epochs"]

    def __iter__(self) -> collections.abc.Iterator[Batch]:
        loop = self._batches()
        self._loops.add(loop)
        return loop

    def __enter__(self) -> "views":
        return self

    def __exit__(self, *why: object) -> None:
        for loop in list(self._loops):
            loop.close()

    def dataset(self) -> "torch.utils.data.IterableDataset":
        """An IterableDataset of PyTorch, for DataLoader(..., batch_size=None): x, ids
        of each batch, x u1 [2,b,c,h,w], then extra and extra_ids, or tokens and
        lengths, if there are any.  Of several workers the first one has all batches;
        augmenters=N makes views in N processes."""
        import foil_torch
        return foil_torch.Views(self._made)

    def _batches(self):
        made = self._made
        with tempfile.TemporaryDirectory(prefix="foil-") as run, _Link(run) as link:
            link.start("foil-train", "-r", run, "--threads", "1", "--encoder",
                       link.relay, "--command-limit", "1e6", *self._train)
            link.start("foil-select", "-r", run, *self._select)
            for _ in range(made["augmenters"]):
                link.start("foil-augment", "-r", run, *self._augment)
            loader = _Loader(made["dim"], made["keep_features"] > 0,
                             "text" if made["vocabulary"] else "image")
            fixed = {"open": f"dim={made['dim']} groups=1", "norm": "norm=0 steady=1"}
            for line in itertools.chain.from_iterable(
                    link.requests() for _ in link.sessions()):
                (word, tower), o = line.split()[:2], _words(line)
                if word == "open":
                    loader.open(tower, o)
                    link.answer("tensor none parameter 1")
                elif word == "layout":
                    loader.layout(tower, o, link.memory)
                elif word == "batch":
                    loader.place = o
                elif word == "save":  # an empty file, which foil-train expects
                    open(line.split(" ", 2)[2], "wb").close()
                elif word == "forward":
                    if made_batch := loader.make_batch(tower, o):
                        yield made_batch
                        loader.finish(made_batch)
                link.answer("ok " + fixed.get(
                    word, loader.report if word == "loss" else ""))


class _Link:
    """This process as the encoder of a foil-train, and the processes of its stages.

    The encoder's command is `relay`: foil-train's lines go through two of our pipes,
    which it opens as descriptors of this process, so that foil-train may be started
    by other programs, and more than once.
    """

    def __init__(self, folder, grace=2, tick=lambda: None):
        self.folder, self.grace, self.tick = folder, grace, tick
        self.stages, self.rest = [], b""
        self.read, out = os.pipe()
        inward, self.write = os.pipe()
        self.pipes = self.read, out, inward, self.write
        at = f"/proc/{os.getpid()}/fd/"
        self.relay = (
            f"exec 4<&0 5<{at}{inward} 6>{at}{out} && {{ "
            "{ { echo /proc/$$/fd/3; cat <&4; echo end; } >&6; kill $$; } & "
            "exec cat <&5 6>&-; }")

    def start(self, *command, **how):
        with open(self._log_of(len(self.stages)), "wb") as log:
            self.stages.append(subprocess.Popen(
                [_find_tool(command[0]), *command[1:]], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=log, **how))

    def _log_of(self, k):
        return os.path.join(self.folder, f"stage-{k}.err")

    def messages(self, k=0):
        """What that stage printed."""
        with open(self._log_of(k), errors="replace") as f:
            return f.read().strip()

    def _has_ended(self):
        """Whether the first stage has; raises the error of a stage."""
        for k, stage in enumerate(self.stages):
            if stage.poll() not in (None, 0):
                lines = self.messages(k).splitlines()[-10:]
                raise RuntimeError("\n".join(lines) or f"{stage.args[0]} ended "
                                   f"with {stage.returncode}")
        return self.stages[0].returncode is not None

    def _line(self):
        """A line of the relay; None if the first stage has ended."""
        while b"\n" not in self.rest:
            self.tick()
            if select.select([self.read], [], [], 0.05)[0]:
                self.rest += os.read(self.read, 65536)
            elif self._has_ended():
                return None
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def sessions(self):
        """Each start of the encoder, until the first stage ends."""
        while line := self._line():
            self.memory = line
            yield

    def requests(self):
        """The lines of foil-train in a session."""
        while (line := self._line()) not in (None, "end"):
            if line[0] == "/":  # another session, as this one was killed
                self.rest = line.encode() + b"\n" + self.rest
                break
            yield line

    def answer(self, text):
        os.write(self.write, text.rstrip().encode() + b"\n")

    def __enter__(self):
        return self

    def __exit__(self, *why):
        for fd in self.pipes:
            os.close(fd)
        for stage in self.stages:
            stage.terminate()
        for stage in self.stages:
            try:
                stage.wait(self.grace)
            except subprocess.TimeoutExpired:
                stage.kill()
                stage.wait()


# -------------------------------------------------------------------- training

def train(data: str | None, net: "torch.nn.Module | None" = None,
          head: "torch.nn.Module | None" = None, *, run: str | None = None,
          pipeline: str = "simclr", test: str | None = None, resume: bool = False,
          optim: typing.Any = None, device: str = "cpu", autocast: typing.Any = None,
          text: "torch.nn.Module | None" = None,
          text_head: "torch.nn.Module | None" = None,
          loss: typing.Callable | None = None, sums: bool | None = None,
          **options: typing.Any) -> "Run":
    """Trains with this process as the encoder, by `foil run`; returns a Run.

        run = foil.train("photos.foil", net, head, objective="isogclr", epochs=50)

    net ... sums  the arguments of encode(); without net foil-train has the
              encoder: arch="resnet8"
    run       its directory; None: run/simclr, by the pipeline
    pipeline  of `foil run`; test is its data set TEST
    resume    whether to continue what is in `run`
    options   of `foil run PIPELINE --help`: batch=256, train="--lr 0.1"; False:
              compare=False is --no-compare

    Ctrl-C saves, ends the stages and raises KeyboardInterrupt; another one kills
    them.  SIGTERM and foil-stop save and raise SystemExit(143).
    """
    folder = run or f"run/{pipeline}"
    if data is not None:
        _find_data(data)
    if os.path.exists(f"{folder}/latest") and not resume:
        raise FileExistsError(f"'{folder}' holds a run: resume=True continues it, "
                              "run='...' is the directory of another one")
    if loss is not None:
        options.setdefault("objective", "external")
    words = [x for x in (data, test) if x is not None] + ["-r", folder]
    for name, value in {**options, "resume": resume or None}.items():
        name = name.replace("_", "-")
        if value is not None:
            words.append(f"--{name}" if value is True else f"--no-{name}"
                         if value is False else f"--{name}={value}")
    with tempfile.TemporaryDirectory(prefix="foil-") as scratch, \
            _Link(scratch, 15, _Progress(folder)) as link:
        if net is not None:
            with open(f"{scratch}/foil.train", "w") as f:
                f.write(link.relay + "\n")
            words += ["--encoder", ". foil.train"]
        link.start("foil", "run", pipeline, *words, start_new_session=True, env={
            **os.environ, "PATH": f"{os.environ['PATH']}:{scratch}"})
        try:
            with _signals_to(link.stages[0]):
                for _ in link.sessions():
                    import foil_torch
                    rates = [g["lr"] for g in getattr(optim, "param_groups", ())]
                    foil_torch.encode(
                        dict(net=net, head=head, text=text, text_head=text_head),
                        optim, device, autocast, loss, 1, None, 600, sums, data, link)
                    for rate, group in zip(rates, getattr(optim, "param_groups", ())):
                        group["lr"] = rate
        except RuntimeError:
            code = link.stages[0].poll()
            if code not in (130, 143):
                raise
            print(f"stopped: foil.train(..., run='{folder}', resume=True) continues",
                  file=sys.stderr)
            raise (KeyboardInterrupt() if code == 130 else SystemExit(code)) from None
        link.tick(last=True)
        return Run(folder, net, link.messages())


@contextlib.contextmanager
def _signals_to(process: subprocess.Popen) -> collections.abc.Iterator[None]:
    """Passes SIGINT and SIGTERM on, which only a main thread can."""
    kinds = (signal.SIGINT, signal.SIGTERM) \
        if threading.current_thread() is threading.main_thread() else ()
    before = {kind: signal.signal(kind, lambda number, _: process.send_signal(number))
              for kind in kinds}
    try:
        yield
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)


class _Progress:
    """Epoch and loss of a run in a notebook or on a terminal, at most twice a
    second."""

    def __init__(self, folder):
        self.folder, self.at, self.shown, self.handle = folder, 0., "", None
        ipython = sys.modules.get("IPython")
        shell = ipython and ipython.get_ipython()
        self.notebook = hasattr(shell, "kernel") and ipython.display.display

    def __call__(self, last=False):
        if not last and time.monotonic() - self.at < 0.5:
            return
        self.at = time.monotonic()
        if (self.notebook or sys.stderr.isatty()) and (now := self._now()):
            (self._show_html if self.notebook else self._show_line)(*now, last)

    def _now(self):
        """The share of the epochs, and a text."""
        try:
            step = json.loads(_tail(f"{self.folder}/metrics.jsonl"))
            epochs = int(_command(self.folder)["epochs"])
        except (OSError, ValueError, KeyError):
            return None
        epoch = step["epoch"] + 1
        return epoch / epochs, f"epoch {epoch} of {epochs}, step {step['total']}, " \
            f"loss {step['loss']:.4g}"

    def _show_html(self, share, text, last):
        what = {"text/plain": text, "text/html":
                f'<progress max="1" value="{share:.3f}"></progress> {text}'}
        if self.handle is None:
            self.handle = self.notebook(what, raw=True, display_id=True)
        elif text != self.shown:
            self.handle.update(what, raw=True)
        self.shown = text

    def _show_line(self, share, text, last):
        bar = "#" * round(20 * share)
        print(f"\r[{bar:20}] {text}\033[K", end="\n" if last else "",
              file=sys.stderr, flush=True)


def _tail(path: str) -> str:
    """The last whole line of a file."""
    with open(path, "rb") as f:
        f.seek(max(0, os.path.getsize(path) - 65536))
        return f.read().rpartition(b"\n")[0].rpartition(b"\n")[2].decode()


def _command(run: str) -> dict[str, str]:
    """The options in RUN/command by their names."""
    with open(f"{run}/command") as f:
        return dict(line.rstrip("\n").partition(" ")[::2] for line in f)


def _lines(path: str) -> list[dict]:
    """The lines of JSON in a file; [] if there is none."""
    try:
        with open(path) as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


class Run:
    """A run directory.

    folder     its path
    metrics    a dictionary for each step: pandas.DataFrame(run.metrics)
    results    those of foil-eval on its checkpoints
    features   of all images it was trained on: x f4 [n,d], ids, labels, as features()
    messages   what `foil run` printed, if train() returned it
    """

    def __init__(self, folder: str, net: "torch.nn.Module | None" = None,
                 messages: str = "") -> None:
        if not os.path.exists(f"{folder}/latest"):
            raise FileNotFoundError(f"'{folder}' is no run with a checkpoint")
        self.folder, self.messages, self._net = folder, messages, net

    def __repr__(self) -> str:
        step = self.metrics[-1]
        return f"<foil.Run '{self.folder}': {step['epoch'] + 1} epochs, " \
            f"{step['total']} steps, loss {step['loss']:.4g}>"

    @property
    def metrics(self) -> list[dict]:
        return _lines(f"{self.folder}/metrics.jsonl")

    @property
    def results(self) -> list[dict]:
        return _lines(f"{self.folder}/results.jsonl")

    def checkpoint(self) -> types.SimpleNamespace:
        """The newest checkpoint, as checkpoint()."""
        return checkpoint(self.folder)

    @functools.cached_property
    def features(self) -> types.SimpleNamespace:
        views = json.loads(_tail(f"{self.folder}/batches.jsonl"))["view_options"]
        with tempfile.TemporaryDirectory(prefix="foil-") as scratch:
            path = f"{scratch}/x.npy"
            if self._net is None:
                _output("foil-embed", "-o", path, self.folder, views["data"])
                return features(path)
            import foil_torch
            return foil_torch.features_of(self._net, self.checkpoint(),
                                          views["data"], path)
