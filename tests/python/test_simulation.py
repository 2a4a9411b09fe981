"""The machines of foil.py in virtual time, over a network that loses messages,
between parties that are killed."""
import numpy as np

import foil
from tap import ok, run


class World:
    """A trainer, augmenters and a selector, on a network that delays, doubles
    and loses messages, with a clock of its own; any of them may be killed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.now, self.mail, self.trained = 0.0, [], []
        self.steps, self.epochs = int(self.rng.integers(3, 12)), 2
        self.k = int(self.rng.integers(1, 6))
        self.window = int(self.rng.integers(1, 9))
        self.loss = self.rng.choice([0, 0, .05, .2])
        self.kills = int(self.rng.integers(0, 6))
        self.born = 0
        self.start_trainer((0, 0))
        self.start_producer()
        self.augmenters = {}
        for k in range(self.k):
            self.start_augmenter(k)

    def start_trainer(self, place):
        self.born += 1
        self.trainer = foil.Consumer(self.born, place, self.window)
        self.waits_until = 0.0

    def start_producer(self):
        self.producer = foil.Producer(lambda e: self.steps, self.epochs, 3.0)
        self.heard = {}

    def start_augmenter(self, k):
        hang = self.rng.random() < .1  # lives, and delivers nothing
        self.augmenters[k] = {"relay": foil.Relay(2), "busy": None,
                              "hangs": hang and k > 0, "name": (k, self.now)}

    def send(self, what, *rest):
        for _ in range(1 + (self.rng.random() < .1)):
            if self.rng.random() >= self.loss:
                self.mail.append((self.now + self.rng.exponential(.05), what,
                                  rest))

    def turn(self):
        self.now += .05
        if self.kills and self.rng.random() < .01:
            self.kills -= 1
            self.kill()
        due = [m for m in self.mail if m[0] <= self.now]
        self.mail = [m for m in self.mail if m[0] > self.now]
        for _, what, rest in sorted(due, key=lambda m: m[0]):
            getattr(self, what)(*rest)
        self.tick()

    def kill(self):
        who = self.rng.integers(0, 2 + self.k)
        if who == 0:
            self.start_trainer(self.trainer.place)
        elif who == 1:
            self.start_producer()
        else:
            self.start_augmenter(int(who) - 2)

    def tick(self):
        t = self.trainer
        item = t.take() if self.now >= self.waits_until else None
        if item:
            assert item == t.place
            self.trained.append(item)
            e, s = item
            t.go((e, s + 1) if s + 1 < self.steps else (e + 1, 0))
            self.waits_until = self.now + self.rng.exponential(.2)
        if t.tick(self.now, item is None):
            for k in self.augmenters:
                self.send("to_relay", k, t.snapshot())
        for name in [n for n, at in self.heard.items() if self.now - at > 3]:
            del self.heard[name]
            self.producer.gone(name)
        self.producer.tick(self.now)
        while (turn := self.producer.turn(self.now)):
            self.send("to_augmenter", *turn, self.producer.now.session)
        for k, a in self.augmenters.items():
            if int(self.now * 20) % 20 == 0 and a["relay"].now:
                self.send("to_producer", a["name"], a["relay"].now,
                          a["relay"].room())
            if a["busy"] is None and not a["hangs"]:
                a["busy"] = a["relay"].take()
                a["until"] = self.now + self.rng.exponential(.2)
            if a["busy"] and self.now >= a["until"]:
                a["relay"].made(a["busy"], a["busy"].item)
                a["busy"] = None
            while (batch := a["relay"].ready()):
                self.send("to_trainer", *batch)
        assert len(t.held) + (t.busy is not None) <= self.window
        leases = [p for p in self.producer.leases]
        assert len(leases) <= self.window

    def to_relay(self, k, snapshot):
        a = self.augmenters[k]
        if a["relay"].next(snapshot):
            self.send("to_producer", a["name"], snapshot, a["relay"].room())

    def to_producer(self, name, snapshot, room):
        self.heard[name] = self.now
        self.producer.next(self.now, name, snapshot, room)

    def to_augmenter(self, name, place, session):
        a = self.augmenters[name[0]]
        if a["name"] == name:
            a["relay"].put(session, place, (session, place))

    def to_trainer(self, session, place):
        if self.trainer.wants(session, place):
            self.trainer.hold(place, place)


def simulation():
    worst, wrong = 0, []
    for seed in range(300):
        w = World(seed)
        while w.trainer.place[0] < w.epochs and w.now < 600:
            w.turn()
        want = [(e, s) for e in range(w.epochs) for s in range(w.steps)]
        worst = max(worst, w.now)
        if w.trained != want:
            wrong.append(seed)
    ok(not wrong, f"300 schedules with losses and kills: each step is trained "
       f"once, in order (not: {wrong[:5]})")
    print(f"# the longest took {worst:.0f} seconds of its own clock")


run(simulation)
