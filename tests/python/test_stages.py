"""Parts of foil.py's stages, with machines and without sockets."""
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


run(selector_that_waits_for_features, weights_of_pairs)
