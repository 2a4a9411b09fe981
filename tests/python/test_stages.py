"""Parts of foil.py's stages, with machines and without sockets."""
import io
import os
import sys
import tempfile
import threading
import types

import numpy as np

import foil
from tap import ok, refuses, run


def asks(place, session=1):
    return foil.Snapshot(session, 1, place, 8, frozenset())


def said(hint, *times):
    """What it says at these times."""
    lines, was = [], foil.say
    foil.say = lines.append
    for now in times:
        hint(now)
    foil.say = was
    return lines


def selector_that_waits_for_features():
    s = foil._Selector.__new__(foil._Selector)
    s.loop, s.client, s.plans, s.lag = foil.Loop(), foil.Client(), {}, 0
    s.data = types.SimpleNamespace(size=8)
    s.alone, s.trainer = None, types.SimpleNamespace(
        send=lambda *message: None, where="ipc://run/features",
        caller=types.SimpleNamespace(joined=False))
    s.producer = foil.Producer(
        lambda e: len(s.plans[e]) if e in s.plans else None, 4)
    s.plan = lambda epoch, features: [np.arange(8)]
    s.loop.start()
    s.producer.joined("one")
    s.producer.next(0, "one", asks((2, 0)))
    ok(s.wanted() == (2,), "the epoch of the trainer is to be planned")
    at_work = threading.Thread(target=s.make, args=(2,), daemon=True)
    at_work.start()
    s.loop.wait(lambda: s.client.request)
    ok(s.client.request[1]["epoch"] == 1 and at_work.is_alive(),
       "it waits for the features of the one before")
    ok(said(s._hint, 0, s.PATIENCE) == [], "and says nothing of it at first")
    told = said(s._hint, s.PATIENCE + 1, s.PATIENCE + 9)
    ok(len(told) == 1 and "--keep-features" in told[0],
       "a trainer that keeps none would not answer: that is said once")
    s.trainer.caller.joined = True
    ok(said(s._hint, 90, 99) == [] and s.alone is None,
       "and not of one that answers")
    s.loop.post(lambda: s.producer.next(1, "one", asks((0, 0), session=2)))
    at_work.join(60)
    ok(not at_work.is_alive() and s.plans == {} and s.wanted() == (0,),
       "a trainer that went back has the epoch that it stands in planned first")
    s.make(0)
    ok(list(s.plans) == [0], "which needs no features")
    s.loop.end()


def selector_that_nobody_asks():
    s = foil._Selector.__new__(foil._Selector)
    s.began, s.producer = 0.0, foil.Producer(lambda e: None, 4)
    s.edge = types.SimpleNamespace(where="ipc://run/plan")
    told = said(s._alone, 1, s.PATIENCE, s.PATIENCE + 9, s.PATIENCE + 61)
    ok(len(told) == 2 and "'ipc://run/plan'" in told[0],
       "a selector that nobody asks says so, each minute")
    s.producer.next(0, "one", asks((0, 0)))
    ok(said(s._alone, 999) == [], "and no more when somebody does")


def stages_of_views():
    stage = types.SimpleNamespace(poll=lambda: 2, returncode=2,
                                  args=["foil-select"])
    with tempfile.TemporaryDirectory() as run:
        path = os.path.join(run, "0.err")
        with open(path, "w") as f:
            f.write("foil-select: no option '--x'\nfoil-select: --help lists\n")
        ok(refuses(RuntimeError, "no option '--x'", foil._watch, [stage], run),
           "views() says all that a stage of its own said at its end")
        open(path, "w").close()
        ok(refuses(RuntimeError, "foil-select ended with 2", foil._watch,
                   [stage], run), "or how it ended, where it said nothing")


class Line(foil.Linked):
    """An edge without a socket: what it says is kept."""

    def _open(self):
        self.sent = []

    def send(self, kind, head=None, tensors=None):
        self.sent.append((kind, dict(head or {}, tensors=None)))

    def said(self):
        sent, self.sent = self.sent, []
        return sent

    def greeted(self, stage):
        self._tick(0)  # our hello
        self.sent = []
        self._take(b"", "hello", {**HELLO, "stage": stage, "peer": stage}, {})


HELLO = {"stage": "augment", "version": foil.VERSION, "run": "", "peer": "a",
         "dataset": {"digest": "ab" * 16, "size": 64}, "recipe": "r"}


def augmenter_between_its_edges():
    a = foil._Augmenter.__new__(foil._Augmenter)
    a.loop, a.relay = types.SimpleNamespace(ticks=[], over=False), foil.Relay(2)
    a.data, a.said, a.last = types.SimpleNamespace(size=64), 0, None
    a.plan = Line(a.loop, "plan", "", HELLO, a._planned, a._pass_on, a._life)
    a.batches = Line(a.loop, "batch", "", HELLO, a._trainer, a._met)
    a.batches.greeted("train")
    a._trainer(*asks((0, 0)).message())
    ok(a.plan.sent == [], "nothing is said before the greeting")
    a.plan.greeted("select")
    ok([(kind, head["room"]) for kind, head in a.plan.said()] == [("next", 2)],
       "[relay: greeted by the producer] the newest is said at once")
    a.relay.put(1, (0, 0), "item")
    a.relay.made(a.relay.take(), ({"step": 0}, {}))
    a._tick(1)
    ok([kind for kind, _ in a.batches.said()] == ["batch"] and
       [head["room"] for _, head in a.plan.said()] == [3],
       "[relay: newer next, or other room] another room is said at once")
    a._trainer(*foil.Snapshot(1, 2, (0, 1), 8, frozenset()).message())
    ok([(head["serial"], head["step"], head["room"]) for _, head in
        a.plan.said()] == [(2, 1, 2)], "so is a newer snapshot")
    a.plan.lived = 5
    a.plan._tick(5.9)
    ok(a.plan.sent == [], "then it waits")
    a.plan._tick(6)
    ok([(kind, head["serial"]) for kind, head in a.plan.said()] ==
       [("next", 2)], "[relay: each second] the same again")
    end = {"session": 1, "epoch": 1, "step": 0}
    a._planned("end", end, {})
    ok([(kind, head["epoch"]) for kind, head in a.batches.said()] ==
       [("end", 1)] and not a.loop.over, "[relay: end] the trainer gets it")
    a._trainer("end", {**end, "over": True}, {})
    ok([(kind, head["over"]) for kind, head in a.plan.said()] ==
       [("end", True)] and a.loop.over,
       "[relay: end with over, of the consumer] the selector gets it, and we "
       "end")
    a.loop.over, a.last, a.plan.caller.joined = False, None, False
    a._trainer("end", {**end, "over": True}, {})
    begun = a.last[1] - 10
    a._tick(begun + 9.9)
    ok(a.plan.sent == [] and not a.loop.over, "a selector that is lost is awaited")
    a.plan.caller.joined = True
    a._tick(begun + 9.95)
    ok([kind for kind, _ in a.plan.said()] == ["end"] and a.loop.over,
       "and gets it when it is back")
    a.loop.over, a.plan.caller.joined = False, False
    a._tick(begun + 10)
    ok(a.loop.over, "but not for longer than ten seconds")
    a.loop.over, a.last = False, None
    a._planned("end", {**end, "over": True}, {})
    ok([kind for kind, _ in a.batches.said()] == ["end"] and a.loop.over,
       "[relay: end with over, of the producer] the trainer gets it, and we end")


def trainer_and_its_peers():
    said = []
    t = foil.Trainer.__new__(foil.Trainer)
    t.session, t.consumer = 7, foil.Consumer(7, (1, 2), 4)
    t.batches = types.SimpleNamespace(
        send=lambda name, *message: said.append((name, *message)),
        all=lambda kind, head, silent: said.append((kind, head, silent)))
    t._publish = lambda kind, head: None
    t.loop = types.SimpleNamespace(is_alive=lambda: True, end=lambda: None,
                                   post=lambda job: job())
    t._joined("a")
    (name, kind, head, _), = said
    ok((name, kind, head["epoch"], head["step"], head["window"]) ==
       ("a", "next", 1, 2, 4), "[consumer: a peer joins] it gets the newest")
    said.clear()
    t.close()
    ok(said == [("end", {"session": 7, "epoch": 1, "step": 2, "over": True},
                 True)],
       "[consumer: the run is over] all hear so, those who fell silent, too")


class Asked(foil.Trainer):
    """A trainer's half of batch.weights(): its service is a function."""

    def __init__(self, answer):
        self.session, self.deadline, self.answer = 1, 30, answer
        self.consumer = foil.Consumer(1, (0, 0), 1)
        self.client, self.mirror = foil.Client(), foil.Mirror()
        self.loop, caller = self, types.SimpleNamespace(who={})
        self.asked, self.refused, self.cond = [], [], threading.Lock()
        self.service = types.SimpleNamespace(
            caller=caller, refuse=lambda *what: self.refused.append(what))

    def _say_to_service(self, messages):
        pass

    def post(self, job):
        self.client.ready = True
        job()

    def wait(self, ready, patience):
        kind, head, tensors = self.client.request
        self.asked.append((head, tensors))
        self.client.hear(0, "weights", {"id": head["id"], "accepted": 1.0,
                                        "moved": 0}, self.answer(tensors))
        return ready()


def weights_of_pairs():
    b, d = 3, 4
    z = np.tile(np.eye(1, d, dtype="f4"), (2 * b + 3, 1))
    head = {"epoch": 0, "step": 0, "steps": 1, "epochs": 1, "texts": 5}
    tensors = {"ids": np.arange(b), "views": np.zeros((1, b, 2, 2, 3), "u1"),
               "tokens": np.zeros((b, 6), "i4"), "captions": np.ones(b, "i4"),
               "extra_ids": np.array([8, 9]),
               "extra": np.zeros((2, 2, 2, 3), "u1"),
               "extra_texts": np.array([[7, 0]]),
               "extra_tokens": np.zeros((1, 6), "i4")}
    short = [np.zeros((1, 3), "f4")]

    def answer(asked):
        outside = short.pop() if short else np.ones((2, d), "f4")
        n = 2 * b + 3 + len(outside)
        return {"w": np.full((2 * b, n), 1 / n, "f4"), "outside": outside}
    trainer = Asked(answer)
    batch = foil.Batch(trainer, head, tensors)
    ok(batch.tokens is tensors["tokens"] and batch.lengths is None,
       "a batch has the tokens of its captions")
    ok(refuses(ValueError, "and captions", batch.weights, z[1:], 2.0),
       "each image and each caption has an embedding")
    w = batch.weights(z, 2.0)
    head, asked = trainer.asked[-1]
    ok(head["kind"] == "pair" and head["texts"] == 5 and
       asked["z"].shape == (2, b, d) and len(asked["captions"]) == b and
       len(asked["extra_z"]) == 2 and len(asked["extra_text_z"]) == 1,
       "the service is asked for pairs, with extra images and texts")
    ok(w.shape == (2 * b, 2 * b + 5) and batch.outside.shape == (2, d),
       "weights of negatives from outside come with their embeddings")
    (kind, about, why), = trainer.refused
    ok(len(trainer.asked) == 2 and kind == "weights" and "3 columns" in why and
       about["id"] == head["id"],
       "an answer with those of another width is refused, and waited for")


def session_of_a_run():
    day = 86400 * 10 ** 9
    ok([foil.session_after(*two) for two in (
        (0, 9), (9, 9), (10, 9), (day + 9, 9), (day + 10, 9))] ==
       [9, 10, 11, day + 10, 9],
       "a session is above the one before, unless that is a day ahead")
    t = foil.Trainer.__new__(foil.Trainer)
    t.folder = tempfile.mkdtemp()
    first, second = t._session(), t._session()
    path = os.path.join(t.folder, "session")
    ahead = second + 3600 * 10 ** 9
    with open(path, "w") as f:
        f.write(f"{ahead}\n")
    third = t._session()
    ok(first < second and third == ahead + 1 and os.listdir(t.folder) ==
       ["session"] and open(path).read() == f"{third}\n",
       "so is a trainer's whose clock was set back an hour; its run says it")
    os.remove(path)
    os.rmdir(t.folder)
    t.folder = None
    ok(t._session() > second, "without a run directory it is the clock's")


def where_it_binds():
    outside = ["tcp://0.0.0.0:7001", "tcp://*:*", "tcp://eth0:7001", "tcp://:7001",
               "tcp://192.168.1.1:7001", "tcp://[::]:7001", "tcp://host:7001",
               "tcp://0:7001", "tcp://128.0.0.1:*", "tcp://127.0.0.1.x:7001"]
    open_ = [w for w in outside if not refuses(
        ValueError, "binds ipc and loopback", foil.may_bind, w)]
    ok(not open_, f"no stage binds where other machines can connect: {open_}")
    for where in ("tcp://127.0.0.1:*", "tcp://127.3.2.1:7001", "ipc://run/batch",
                  "tcp://[::1]:7001", "tcp://localhost:7001", "inproc://x"):
        foil.may_bind(where)
    loop = foil.Loop()
    ok(refuses(ValueError, "foil tap proxy", loop.open, "batch",
               "tcp://0.0.0.0:*", True, None, None), "open() asks")
    loop.context.destroy()


def options_of_a_stage():
    was = sys.argv
    sys.argv = ["x", "-r", "d", "--keep-features", "3",
                "--word", "b", "--rate", ".5", "-k", "4", "--flag"]
    o = foil.options(run=str, keep_features=0, word=["a", "b"], rate=1.0, k=8,
                     flag=False, other=False, name=None, seed=7)
    ok((o.run, o.keep_features, o.word, o.rate, o.k, o.flag, o.other, o.name,
        o.seed) == ("d", 3, "b", .5, 4, True, False, None, 7),
       "options have the types of their usual values")
    sys.argv = ["x", "set", "-e", "2", "-b", "9", "-s", "5"]
    o = foil.options("data", epochs=10, batch=128, seed=0)
    ok((o.data, o.epochs, o.batch, o.seed) == ("set", 2, 9, 5),
       "operands stand anywhere; epochs, batch and seed have a letter")
    quiet, sys.stderr = sys.stderr, io.StringIO()
    said = lambda: sys.stderr.getvalue().splitlines()[-1]
    ok(refuses(SystemExit, "2", lambda: foil.options(run=str)) and
       "--run" in said(), "one that has to be given is asked for")
    sys.argv = ["x", "--optim", "lars", "set"]
    ok(refuses(SystemExit, "2", lambda: foil.options("data", tau=.5)) and
       said() == "x: no option '--optim'; --help lists the options",
       "one that is not known ends the program with a sentence and code 2")
    sys.argv = ["x", "one", "two"]
    ok(refuses(SystemExit, "2", lambda: foil.options("data")) and
       said() == "x: 'two' has no use here; --help lists the options",
       "so does an operand too many")
    sys.argv = ["x", "--check-every", "5", "-s", "2"]
    o = foil.options(seed=0, check_every=..., arch=...)
    ok(vars(o) == {"seed": 2} and said() == "x: --check-every 5 does nothing "
       "here", "one for the stage in C is taken, and said to do nothing")
    sys.argv, sys.stderr = was, quiet


run(options_of_a_stage, where_it_binds, selector_that_nobody_asks, stages_of_views,
    selector_that_waits_for_features, augmenter_between_its_edges,
    trainer_and_its_peers, session_of_a_run, weights_of_pairs)
