"""The part of foil.py for PyTorch: foil.encode() of foil-python(7), an encoder for
foil-train --encoder by foil-encoder(5), and objective.tensor().

_Ranks are the processes that compute it, and _Tower is an encoder of images or of
texts, with a function for each request.
"""
import datetime
import math
import os
import queue
import subprocess
import sys
import threading
import time
import traceback
import types

import numpy as np
import torch

import foil


def encode(nets, optim, device, autocast, loss, ranks, backend, timeout,
           sums=None, data=None, link=None):
    """foil.encode(); nets has net, head, text and text_head by name.  foil.train() has
    a link, which it reads instead of standard input."""
    foil._ours = True
    if not link:
        sys.stdout.reconfigure(line_buffering=True)
    device = torch.device(device)
    team = _Ranks(ranks, device, backend, timeout, link)
    if device.type == "cuda" and ranks > 1:
        device = torch.device("cuda", team.rank)
    if sums is None:
        sums = device.type == "cuda"
    owned = loss if isinstance(loss, torch.nn.Module) else torch.nn.Module()
    modules = {"image": (nets["net"], nets["head"], owned),
               "text": (nets["text"], nets["text_head"], torch.nn.Module())}
    saved = {p for m in (*nets.values(), owned) if m is not None
             for p in m.parameters()}
    towers, summed = {}, None
    about = _Batch(epoch=0, step=0, _towers=towers, _data=data, _labels=None)
    for line in link.requests() if link else sys.stdin:
        verb, name, rest = (line.rstrip("\n") + " ").split(" ", 2)
        fields = vars(foil._words(rest))
        try:
            if verb == "open":
                if data and not link:  # an error before the first step
                    about.read_labels()
                if fields["loss"] and loss is None:
                    raise ValueError("--objective external and external-weighed "
                                     "need encode(loss=...)")
                towers[name] = _Tower(*modules[name], saved, optim, device,
                                      autocast, team, about)
            tower, answer = towers[name], None
            if verb == "backward" and summed:
                summed.backward()
                summed = None
            team.send(line)
            if verb == "loss":
                if not team.rank:
                    tower.take_weights(fields)
                    tower.take_made()
                    answer = _loss_of(loss, list(towers.values()), about)
            elif verb == "sums":
                summed = None if team.rank else \
                    _TowerSums(list(towers.values()), fields)
            else:
                answer = getattr(tower, verb)(
                    rest[:-1] if verb in ("init", "save", "load") else fields)
            team.gather()
            if verb == "open":
                answer += f" sums={int(sums)} late={int(sums and tower.may_be_late())}"
        except Exception as e:
            if link:
                team.answer(f"error {type(e).__name__}")
                raise
            traceback.print_exc()
            team.fail(f"{type(e).__name__}: {e}")
        lines, _, last = (answer or "").rpartition("\n")
        team.answer(f"{lines}\nok {last}" if lines and not team.rank
                    else f"ok {last}".rstrip())
    team.close()


class _Batch(types.SimpleNamespace):
    """The second argument of a loss."""

    @property
    def x(self):
        """The images of all rows, the input of net; of two sizes a tuple."""
        return self._towers["image"].all_images()

    @property
    def views(self):
        """The number of rows of a sample in z."""
        return (self._towers["image"].n - self.extra) // self.samples

    @property
    def labels(self):
        """The label of each sample in ids, or -1."""
        return self.read_labels()[self.ids].to(self._towers["image"].device)

    def read_labels(self):
        if self._labels is not None:
            return self._labels
        if not self._data:
            raise ValueError("batch.labels needs encode(data=PATH)")
        data = foil.Dataset(self._data)
        if data.digest != os.environ.get("FOIL_DIGEST", data.digest):
            raise ValueError(f"encode(data='{self._data}') is not the data set of this "
                             f"run: its digest is {data.digest:.8}, not "
                             f"{os.environ['FOIL_DIGEST']:.8}")
        if not (data.labels >= 0).any():
            raise ValueError(f"encode(data='{self._data}'): no image has a label")
        self._labels = torch.from_numpy(data.labels)
        return self._labels


def _loss_of(loss, towers, about):
    """The loss of all rows; writes its gradient to the memory."""
    z = [t.z[:t.n].to(t.device, copy=True).requires_grad_() for t in towers]
    value, more = loss(*z, about), {}
    if isinstance(value, tuple):
        value, more = value
    value.backward()
    for t, x in zip(towers, z):
        t.dz[:t.n] = x.grad
    return " ".join(f"{k}={float(x)!r}" for k, x in
                    {"loss": value, **more}.items())


class RowSums:
    """The sums of foil-encoder(5) of embeddings z [rows,d], of which the first 2 b are
    anchors; tau f8 [2 b], group i8 [2 b] or None.  All of it is on the device of z."""

    def __init__(self, z, b, mask, tau, tau_all, group=None):
        self.rows, n = len(z), 2 * b
        self.length = z[:n].norm(dim=1, keepdim=True).clamp(1e-12)
        self.v = z[:n] / self.length
        s = self.v @ self.v.T
        self.row = torch.arange(n, device=z.device)
        self.partner, view = self.row.roll(b), self.row >= b
        sample = self.row % b
        equal = sample[:, None] == sample
        self.has_partner = mask in ("batch", "cross")
        out = view[:, None] == view if mask[:5] == "cross" else equal
        if mask == "batch":
            out = torch.eye(n, dtype=torch.bool, device=z.device)
        elif mask == "cross-negatives":
            out = out | equal
        each = tau.float().to(z.device)[:, None]
        most, total, self.p = self._softmax(s, out, each)
        parts = [most, total, (self.p * s).sum(1), s[self.row, self.partner]]
        if mask == "batch" and (tau == tau_all).all():
            parts += [most, total]
        else:
            itself = torch.eye(n, dtype=torch.bool, device=z.device)
            parts += self._softmax(s, itself, tau_all)[:2]
        if group is not None:
            group = group.to(z.device)
            same = (group[:, None] == group) & (group >= 0) & ~equal
            parts += [(self.p * same).sum(1), same.sum(1).float()]
        most, total, mean, score, most_all, total_all, *same = \
            torch.stack(parts).cpu().double()
        self.sums = torch.stack([
            most / tau + total.log(), mean, score, most_all / tau_all + total_all.log(),
            *(same or torch.zeros(2, n, dtype=torch.float64))], 1)

    def _softmax(self, s, out, tau):
        """The largest score of each row, the sum of exp((s - it) / tau), and the
        softmax, over all columns but `out`."""
        x = s.masked_fill(out, -math.inf)
        most = x.amax(1, keepdim=True)
        p = x.sub_(most).div_(tau).exp_()
        total = p.sum(1, keepdim=True)
        return most[:, 0], total[:, 0], p.div_(total)

    def gradient(self, coefficients):
        """dL/dz [rows,d] from f4 [2 b,2]."""
        scale, pull = coefficients.to(self.v.device).T
        w = self.p * scale[:, None]
        if self.has_partner:  # p - 1 without cancellation
            w[self.row, self.partner] = 0
            w[self.row, self.partner] = -w.sum(1)
        else:
            w[self.row, self.partner] -= pull
        dv = (w + w.T) @ self.v
        dz = (dv - (dv * self.v).sum(1, True) * self.v) / self.length
        return torch.cat([dz, dz.new_zeros(self.rows - len(dz), dz.shape[1])])


class _TowerSums:
    """Those of all towers, in the memory of the first one."""

    def __init__(self, towers, o):
        self.towers, n = towers, 2 * o["samples"]
        image = towers[0]
        z = torch.cat([t.rows[:t.n].to(t.device) for t in towers])
        self.sums = RowSums(z, o["samples"], o["mask"], image.tau(n), o["tau"],
                            image.group(n) if o["groups"] else None)
        image.sums(n).copy_(self.sums.sums)
        self.coefficients = image.coefficients(n)

    def backward(self):
        dz = self.sums.gradient(self.coefficients).split([t.n for t in self.towers])
        for t, x in zip(self.towers, dz):
            if t.team.n > 1:
                t.dz[:t.n] = x
            else:
                t.own_dz = x


class _Ranks:
    """The processes of a DistributedDataParallel.  foil-train starts rank 0, which
    starts the others, the same program, and sends them each request.  The end of
    one ends the run, even if another one is in a collective."""

    def __init__(self, n, device, backend, timeout, link=None):
        self.n, self.peers, self.closing, self.link = n, [], False, link
        self.optim = None  # the tower that calls the only optimiser
        self.lock = threading.Lock()
        port = int(os.environ.get("FOIL_PORT", 0))
        self.rank = int(os.environ["RANK"]) if port else 0
        if n == 1:
            return
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        late = datetime.timedelta(seconds=timeout)
        store = torch.distributed.TCPStore("127.0.0.1", port, n, not self.rank,
                                           late, wait_for_workers=False)
        if not self.rank:
            self._start(store.port)
        if device.type == "cuda":
            torch.cuda.set_device(self.rank)
        torch.distributed.init_process_group(
            backend or ("nccl" if device.type == "cuda" else "gloo"),
            timeout=late, store=store, rank=self.rank, world_size=n)

    def _start(self, port):
        memory = os.open(os.environ["FOIL_MEMORY"], os.O_RDWR)
        for rank in range(1, self.n):
            peer = subprocess.Popen(
                sys.orig_argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True, bufsize=1, pass_fds=[memory], env={
                    **os.environ, "RANK": str(rank), "FOIL_PORT": str(port),
                    "WORLD_SIZE": str(self.n),
                    "FOIL_MEMORY": f"/proc/self/fd/{memory}"})
            peer.answers = queue.SimpleQueue()
            self.peers.append(peer)
            threading.Thread(target=self._listen, args=(rank, peer),
                             daemon=True).start()
        os.close(memory)

    def _listen(self, rank, peer):
        for line in peer.stdout:
            if not line.startswith("ok"):
                self.fail(f"rank {rank}: {line.replace('error ', '', 1)}", peer)
            peer.answers.put(line)
        if not self.closing:
            code = peer.wait()
            self.fail(f"rank {rank} ended " + (
                f"by signal {-code}" if code < 0 else f"with {code}"), peer)

    def send(self, line):
        for peer in self.peers:
            peer.stdin.write(line)

    def gather(self):
        for peer in self.peers:
            peer.answers.get()

    def memory(self):
        return self.link.memory if self.link else os.environ["FOIL_MEMORY"]

    def answer(self, text):
        if self.link:
            self.link.answer(text)
        else:
            print(text, file=foil.answers, flush=True)

    def fail(self, why, peer=None):
        """Ends with an error.  An error of rank 0 waits for 2 s: if another rank has
        ended, that is the cause."""
        if self.peers and not peer:
            time.sleep(2)
        with self.lock:
            for other in self.peers:
                other.kill()
            self.answer("error " + " ".join(why.split())[:1000])
            os._exit(1)

    def close(self):
        self.closing = True
        for peer in self.peers:
            peer.stdin.close()
            peer.wait()


class _Joined(torch.nn.Module):
    def __init__(self, net, head):
        super().__init__()
        self.net, self.head = net, head

    def forward(self, *x):
        z = self.net(*x)
        return z if self.head is None else self.head(z)


class _Tower:
    """An encoder; that of images also has the loss, if it is a module.  An
    optimiser may only have parameters in `saved`."""

    def __init__(self, net, head, loss, saved, optim, device, autocast, team,
                 about):
        if net is None:
            raise ValueError("encode() was given no module for this tower")
        self.both, self.loss = _Joined(net, head).to(device), loss.to(device)
        self.saved = saved
        self.device, self.autocast, self.optim = device, autocast, optim
        self.team, self.about, self.cuda = team, about, device.type == "cuda"
        named = net.state_dict(keep_vars=True)
        if head is not None:
            named.update(("head." + k, t) for k, t in
                         head.state_dict(keep_vars=True).items())
        self.named = [{k: t.detach() for k, t in named.items()
                       if t.is_floating_point()
                       and isinstance(t, torch.nn.Parameter) == parameter}
                      for parameter in (True, False)]
        self.counts = {k: t for k, t in named.items()
                       if not t.is_floating_point()}
        self.steps = self.pending = self.averaged = 0
        self.sum, self.mean = [], []
        self.before = self.x = self.next = self.rows = self.own_dz = None
        self.early, self.host_state = None, []

    # ------------------------------------------------------------- beginning

    def open(self, o):
        self.o, n = o, self.team.n
        if self.cuda:
            self.side = torch.cuda.Stream(self.device)
        elif o["threads"] > 0:
            torch.set_num_threads(max(1, o["threads"] // n))
        if self.autocast is None and o["precision"] == "bf16":
            self.autocast = torch.bfloat16
        if o["locked"]:
            self.both.requires_grad_(False)
            if o["loss"] and any(p.requires_grad for p in
                                 self.loss.parameters()):
                raise ValueError("--freeze: the parameters of the loss move with "
                                 "the encoder of images, which is frozen")
        self.params = [p for m in (self.both, self.loss)
                       for p in m.parameters() if p.requires_grad]
        self.ddp, self.moves = self.both, bool(self.params)
        if self.params:
            self._begin_optimiser()
            if n > 1:
                self.ddp = torch.nn.parallel.DistributedDataParallel(self.both)
        of_features = o.get("layer") == "h"
        if of_features:
            self.both.head = None
        self.dim = self._width()
        where = torch.cuda.get_device_name(self.device).replace(" ", "-") \
            if self.cuda else "cpu"
        return "".join(
            f"tensor {name} {kind} {_by_x(t)}\n"
            for kind, part in zip(("parameter", "statistic"), self.named)
            for name, t in part.items()) + \
            f"dim={self.dim} engine=torch-{torch.__version__}-{where}-{n}" + \
            " layer=h" * of_features + " groups=1" * (n == 1)

    def _begin_optimiser(self):
        if isinstance(self.optim, torch.optim.Optimizer):
            # possibly of both towers: the first tower calls it
            self.moves = self.team.optim is None
            self.team.optim = self.optim
        else:
            self.optim = (self.optim or self._default_optim)(self.params)
        for group in self.optim.param_groups:
            for p in group["params"]:
                if p not in self.saved:
                    raise ValueError(
                        f"the optimiser has a parameter [{_by_x(p)}] that is in "
                        "no module of encode(), so that no checkpoint would "
                        "have it: pass a loss with parameters as a module")
        rates = [g["lr"] for g in self.optim.param_groups]
        self.ratios = [r / rates[0] if rates[0] else 1. for r in rates]

    def _default_optim(self, params):
        """The optimiser of foil-train's options."""
        o, kinds = self.o, torch.optim
        decay = o["weight_decay"]
        if o["optim"] == "sgd":
            return kinds.SGD(params, 1., o["momentum"], 0., decay, o["nesterov"])
        if o["optim"] not in ("adam", "adamw"):
            raise ValueError(f"--optim {o['optim']}: give encode() an optimiser, "
                             "or use sgd, adam or adamw")
        kind, groups = kinds.Adam, [{"params": params}]
        if o["optim"] == "adamw":  # vectors do not decay
            kind, groups = kinds.AdamW, [
                {"params": group, "weight_decay": d} for group, d in
                (([p for p in params if p.ndim > 1], decay),
                 ([p for p in params if p.ndim < 2], 0.)) if group]
        return kind(groups, 1., (o["beta1"] or .9, o["beta2"] or .999),
                    o["epsilon"] or 1e-8, decay)

    def _width(self):
        """The width of an embedding, from two rows of zeros."""
        o = self.o
        if o["input"] == "pixels":
            channels = o["channels"]
            mean, deviation = (
                torch.tensor([float(x) for x in o[k].split(",")][:channels],
                             device=self.device).view(1, -1, 1, 1)
                for k in ("mean", "deviation"))
            self.scale, self.shift = 1 / (255 * deviation), -mean / deviation
            x = torch.zeros(2, channels, o["height"], o["width"]),
        elif o["input"] == "tokens":
            x = (torch.zeros(2, o["context"], dtype=torch.long),
                 torch.ones(2, dtype=torch.long))
        else:
            x = torch.zeros(2, dtype=torch.long),
        self.both.eval()
        with torch.no_grad():
            return self.both(*(t.to(self.device) for t in x)).shape[1]

    def layout(self, o):
        memory = np.memmap(self.team.memory(), "u1", "r+", shape=(o["size"],))
        if self.cuda:  # page-locked, for asynchronous copies
            code = int(torch.cuda.cudart().cudaHostRegister(
                memory.ctypes.data, memory.nbytes, 0))
            if code:
                print(f"the shared memory is not page-locked (CUDA error {code}): "
                      "copies to the GPU take longer", file=sys.stderr)
        rows = self.o["rows"]

        def at(name, kind, *shape, behind=0):
            return torch.from_numpy(np.frombuffer(
                memory, kind, math.prod(shape), o[name] + behind)
                .reshape(shape))
        self.slots = [self._slot(at, f"input{k}", rows) for k in (0, 1)]
        self.z, self.dz = (at(k, "f4", rows, self.dim) for k in ("z", "dz"))
        self.blocks = [at(k, "f4", sum(t.numel() for t in part.values()))
                       for k, part in zip(("parameters", "statistics"),
                                          self.named)]
        self.ids = at("ids", "i8", rows)
        self.made = lambda n: at("made", "f4", n)
        self.tau = lambda n: at("tau", "f8", n)
        self.group = lambda n: at("group", "i8", n)
        self.sums = lambda n: at("sums", "f8", n, 6)
        self.coefficients = lambda n: at("coefficients", "f4", n, 2)
        self.weights = lambda n, m: (at("weights", "f4", n, m),
                                     at("scale", "f4", n, 2))

    def _slot(self, at, name, rows):
        o = self.o
        if o["input"] == "pixels":
            shape = [o[k] for k in ("height", "width", "channels")]
            return at(name, "u1", rows * math.prod(shape)) if "small" in o else \
                at(name, "u1", rows, *shape)
        if o["input"] == "ids":
            return at(name, "i4", rows)
        return at(name, "i8", rows + 1), at(name, "i4", rows * o["context"],
                                            behind=8 * (rows + 1))

    def init(self, path):
        if path.endswith(".safetensors"):
            there = {k: torch.from_numpy(x)
                     for k, x in foil._read_safetensors(path).items()}
        else:
            there = torch.load(path, map_location="cpu")
            there = there.get("state_dict", there)
        for part in self.named:
            for name, t in part.items():
                x = there.pop(name, None)
                if x is not None:
                    t.copy_(x.view(t.shape))
                elif not name.startswith("head."):
                    raise ValueError(f"'{path}' has no tensor '{name}'")
        left = [k for k in there if k not in self.counts]
        return ", ".join(left[:9]) + (", ..." if left[9:] else "")

    # ---------------------------------------------------------------- a step

    def batch(self, o):
        vars(self.about).update(o)
        self.about.made = None
        self.n_made = o.get("made", 0)
        self.about.ids = self.ids[:self.about.samples +
                                  self.about.extra].clone()

    def expect(self, o):
        slot, side = o["slot"], self.side if self.cuda else None
        with torch.cuda.stream(side):
            self.next = slot, self._rows(slot, self._mine(0, o["n"]))

    def _mine(self, a, b):
        """The rows that this rank computes."""
        return slice(a + self.team.rank, b, self.team.n)

    def _rows(self, slot, rows):
        """Those rows, on the device."""
        stored = self.slots[slot]
        if "small" in self.o:
            return self._of_two_sizes(stored, rows.start or 0, rows.stop)
        if self.o["input"] != "tokens":
            return stored[rows].to(self.device, non_blocking=True),
        at, tokens = stored
        length = (at[1:] - at[:-1])[rows]
        column = torch.arange(self.o["context"])
        mask = column < length[:, None]
        x = torch.zeros(mask.shape, dtype=torch.long)
        x[mask] = tokens[(at[:-1][rows, None] + column)[mask]].long()
        return x.to(self.device), length.to(self.device)

    def _of_two_sizes(self, stored, a, b):
        """Rows [a,b): the large ones, then the small ones, if there are any."""
        o, parts, at = self.o, [], 0
        large = self.about.samples * (o["views"] - o["small"])
        for start, stop, kind in (0, large, ""), (large, max(b, large), "small_"):
            shape = o[kind + "height"], o[kind + "width"], o["channels"]
            area, first, last = math.prod(shape), max(a, start), min(b, stop)
            if last > first:
                part = stored[at + (first - start) * area:at + (last - start) * area]
                parts.append(part.view(-1, *shape).to(self.device))
            at += (stop - start) * area
        return parts

    def _input(self, slot, a, b, begins):
        if "small" in self.o:
            return self._ready(self._rows(slot, slice(a, b)))
        if begins:
            self.x = None
            if self.next and self.next[0] == slot:
                (_, self.x), self.next = self.next, None
                if self.cuda:
                    here = torch.cuda.current_stream(self.device)
                    here.wait_stream(self.side)
                    self.x[0].record_stream(here)
        if self.x is None or self.team.n > 1 and a:
            x = self._rows(slot, self._mine(a, b))
        else:
            first = a if self.team.n == 1 else 0
            x = [t[first:first + len(self.z[self._mine(a, b)])] for t in self.x]
        return self._ready(x)

    def _ready(self, x):
        """The input of net."""
        if self.o["input"] == "pixels":
            return tuple(part.permute(0, 3, 1, 2).float() * self.scale + self.shift
                         for part in x)
        return (x[0].long(), *x[1:])

    def all_images(self):
        x = self._ready(self._rows(self.slot, slice(self.n)))
        return x if "small" in self.o else x[0]

    def forward(self, o):
        a, b, mode = o["from"], o["to"], o["mode"]
        again, train = o["again"], mode == "train"
        x = self._input(o["slot"], a, b, a == 0 and not again)
        moving = _moving(self.both)
        before = [t.clone() for t in moving] if mode == "encode" else None
        if train and self.before is None:
            self.before = [t.clone() for t in _moving(self.both, self.loss)]
        if train and not again:  # a step begins
            self.slot = o["slot"]
            self.both.zero_grad(set_to_none=True)
            self.loss.zero_grad(set_to_none=True)
        # by the place alone, so that repeated rows and resumed runs draw the
        # same numbers
        torch.manual_seed(hash((self.o["seed"], self.about.epoch,
                                self.about.step, a, self.team.rank)) % 2**63)
        self.both.train(mode != "fixed")
        with torch.set_grad_enabled(train), torch.autocast(
                self.device.type, self.autocast or torch.bfloat16,
                enabled=bool(self.autocast)):
            run = self.ddp if train else self.both
            self.out = torch.cat([run(one) for one in x]) if "small" in self.o \
                else run(*x)
        if mode == "encode":
            _copy(moving, before)
        if not again:
            self.n, self.rows = b, self.out.detach().float()
            # with sums=1 the answer to that request waits
            self.z[self._mine(a, b)].copy_(self.rows, bool(o.get("sums")))
            if not o.get("sums") or self.team.n > 1:
                self.rows = self.z

    def backward(self, o):
        dz, self.own_dz = self.own_dz, None
        if dz is None:
            dz = self.dz[self._mine(o["from"], o["to"])].to(
                self.device, non_blocking=True)
        # DistributedDataParallel takes the mean over the ranks
        self.out.backward((dz * self.team.n).to(self.out.dtype))
        self.out = None

    def norm(self, o):
        if not self.early:
            length, steady = self._length().tolist()
            return f"norm={length!r} steady={int(steady)}"
        (numbers, copied), self.early = self.early, None
        if copied:
            copied.synchronize()
        length, steady = numbers.tolist()
        if self.host_state and not (math.isfinite(length) and steady):
            self.steps -= 1
            for state, old in self.host_state:
                state.update(old)
        return f"norm={length!r} steady={int(steady)}"

    def _length(self):
        """That of the gradient, and whether all statistics are finite, [2]."""
        of = [torch.norm(p.grad) for p in self.params if p.grad is not None]
        moving = [t.flatten() for t in self.named[1].values()]
        one = torch.ones((), device=self.device)
        return torch.stack([
            torch.norm(torch.stack(of)).float() if of else 0 * one,
            torch.isfinite(torch.cat(moving)).all().float() if moving else one])

    def may_be_late(self):
        """Whether an update may come before its norm.  With ranks all would have to
        agree, without a wait."""
        return self.team.n == 1 and self.o["accumulate"] == 1

    def _update_if_finite(self, o):
        """The device decides: an update that is not finite is replaced by what was there
        before, without a wait."""
        numbers, copied = self._length(), None
        good = torch.isfinite(numbers[0]) & (numbers[1] > 0)
        if self.cuda:
            there = torch.empty(2, pin_memory=True).copy_(numbers, non_blocking=True)
            numbers, copied = there, torch.cuda.Event()
            copied.record(torch.cuda.current_stream(self.device))
        self.early, self.host_state = (numbers, copied), []
        params = [p for g in self.optim.param_groups for p in g["params"]]
        states = [self.optim.state[p] for p in params if p in self.optim.state]
        here = lambda x: torch.is_tensor(x) and x.device.type == self.device.type
        if len(states) < len(params) or any(
                isinstance(x, (list, dict)) for s in states for x in s.values()):
            # the first step, which makes the state, or state of an unknown form
            (self.update if good else self.undo)(o)
            return
        kept = [p.detach().clone() for p in params]
        kept_state = [(s, k, x.clone()) for s in states for k, x in s.items() if here(x)]
        self.host_state = [(s, {k: x.clone() if torch.is_tensor(x) else x
                                for k, x in s.items() if not here(x)}) for s in states]
        moving, before = _moving(self.both, self.loss), self.before
        self.update(o)
        with torch.no_grad():
            for t, old in [*zip(params, kept), *((s[k], x) for s, k, x in kept_state),
                           *zip(moving, before)]:
                t.copy_(torch.where(good, t, old))

    def update(self, o):
        if o.get("finite"):
            self._update_if_finite({**o, "finite": 0})
            return
        self.before, self.steps = None, self.steps + 1
        if not self.moves or self.o["accumulate"] > 1 and not self._full():
            return
        for group, ratio in zip(self.optim.param_groups, self.ratios):
            group["lr"] = o["rate"] * ratio
        self.optim.step()

    def _full(self):
        """Adds to the sum of gradients; with the last one sets their mean."""
        self.pending, n = self.pending + 1, self.o["accumulate"]
        params = [p for g in self.optim.param_groups for p in g["params"]]
        grads = [torch.zeros_like(p) if p.grad is None else p.grad.clone()
                 for p in params]
        self.sum = [s + g for s, g in zip(self.sum, grads)] or grads
        if self.pending < n:
            return False
        for p, s in zip(params, self.sum):
            p.grad = s / n
        self.sum, self.pending = [], 0
        return True

    def average(self, o):
        self.averaged += 1
        now = self.named[0].values()
        self.mean = self.mean or [torch.zeros_like(t, dtype=torch.float64)
                                  for t in now]
        for m, t in zip(self.mean, now):
            m += (t - m) / self.averaged

    def undo(self, o):
        if self.before:
            _copy(_moving(self.both, self.loss), self.before)
        self.before = None

    def take_weights(self, o):
        """Takes the weights of --objective external-weighed, for the loss."""
        if "anchors" in o:
            self.about.weights, self.about.scale = (
                t.to(self.device, copy=True)
                for t in self.weights(o["anchors"], o["columns"]))

    def take_made(self):
        """Takes the numbers of the program that made the views, for the loss."""
        if self.n_made:
            rows = self.about.views * self.about.samples
            self.about.made = self.made(rows * self.n_made).to(
                self.device, copy=True).view(rows, self.n_made)

    # ----------------------------------------------------------- checkpoints

    def _flat(self, of):
        return [t.reshape(-1) for t in of]

    def get(self, o):
        mean = o["what"] == "mean"
        if not self.team.rank:
            for block, part in zip(self.blocks, self.named):
                of = self.mean if mean and self.mean and \
                    part is self.named[0] else part.values()
                _copy(block.split([t.numel() for t in of]), self._flat(of))
        return f"steps={self.averaged if mean else self.steps}"

    def put(self, o):
        for block, part in zip(self.blocks, self.named):
            of = part.values()
            _copy(of, [x.view(t.shape) for t, x in zip(
                of, block.split([t.numel() for t in of]))])

    def save(self, path):
        if not self.team.rank:
            torch.save({
                "optim": self.optim.state_dict() if self.moves else None,
                "counts": self.counts, "steps": self.steps, "sum": self.sum,
                "pending": self.pending, "mean": self.mean,
                "averaged": self.averaged,
                "loss": self.loss.state_dict()}, path)

    def load(self, path):
        state = torch.load(path, map_location="cpu")
        if self.moves:
            self.optim.load_state_dict(state["optim"])
        _copy(self.counts.values(), state["counts"].values())
        self.loss.load_state_dict(state.get("loss", {}))
        self.sum, self.mean = ([t.to(self.device) for t in state[k]]
                               for k in ("sum", "mean"))
        self.steps, self.pending, self.averaged = (
            state[k] for k in ("steps", "pending", "averaged"))


class Views(torch.utils.data.IterableDataset):
    """foil.views(...).dataset()"""

    def __init__(self, made):
        self.made = made

    def __len__(self):
        return len(foil.views(**self.made))

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        if worker and worker.id:
            return
        for batch in foil.views(**self.made):
            more = [batch.tokens, batch.lengths] if batch.lengths is not None else \
                [batch.extra.copy(), batch.extra_ids] if len(batch.extra) else []
            yield (torch.from_numpy(batch.views.copy()).permute(0, 1, 4, 2, 3),
                   *map(torch.from_numpy, [batch.ids, *more]))


def features_of(net, saved, data, path):
    """Those of all images of a data set, by the net of a checkpoint in evaluation mode.
    Pixels come by the path of a scratch file."""
    about = saved.config["encoder"]
    device, was = next(net.parameters()).device, net.training
    mean, deviation = (torch.tensor(about[k], device=device).view(1, -1, 1, 1)
                       for k in ("mean", "deviation"))
    size, parts = about["height"], []
    shards = 1 + len(foil.Dataset(data)) * size * size // 10**7
    net.eval()
    for k in range(1, shards + 1):
        foil._output("foil-embed", "--raw", "--size", str(size), "--shard",
                     f"{k}/{shards}", "-o", path, data)
        part = foil.features(path)
        with torch.no_grad():
            part.x = np.concatenate([
                net((x.view(len(x), size, size, -1).permute(0, 3, 1, 2).to(device)
                     - mean) / deviation).float().cpu().numpy()
                for x in torch.from_numpy(part.x).split(256)])
        parts.append(part)
    net.train(was)
    last = parts[-1]
    join = lambda of: np.concatenate([getattr(part, of) for part in parts])
    return types.SimpleNamespace(
        x=join("x"), ids=join("ids"), about={
            **last.about, "layer": "h", "encoder": {
                **about, "checkpoint": saved.folder}},
        labels=None if last.labels is None else join("labels"))


class _Value(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, objective, ids, how):
        value, dz = objective(ids, z, **how)
        rest = z.new_zeros(len(z) - len(dz), z.shape[1])  # constant rows
        ctx.save_for_backward(torch.cat([dz, rest]))
        return z.new_tensor(value, dtype=torch.float32)

    @staticmethod
    def backward(ctx, slope):
        return slope * ctx.saved_tensors[0], None, None, None


def objective_value(objective, ids, z, how):
    return _Value.apply(z, objective, ids, how)


def _copy(to, of):
    for t, x in zip(to, of):
        t.copy_(x)


def _by_x(t):
    """The shape of t in one to four numbers, as 64x3x7x7."""
    shape = (*t.shape[:3], math.prod(t.shape[3:])) if t.ndim > 4 \
        else t.shape or (1,)
    return "x".join(map(str, shape))


def _moving(*modules):
    """Tensors that a forward may change: buffers, and parameters without optimiser."""
    return [t for m in modules for t in (
        *m.buffers(), *(p for p in m.parameters() if not p.requires_grad))]
