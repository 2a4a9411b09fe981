"""The machines of foil.py, without sockets and without a clock."""
import foil
from tap import ok, refuses, run

DATA = {"digest": "ab" * 16, "size": 64}
HELLO = {"stage": "augment", "version": 2, "run": "", "dataset": DATA,
         "peer": "one", "recipe": "r"}


def binder(**more):
    return foil.Binder({**HELLO, "stage": "train", "peer": "t",
                        "dataset": {"digest": "", "size": 0}, "recipe": "",
                        **more})


def greeting_of_who_binds():
    b = binder()
    answers, name, joined = b.hear(0, b"A", "hello", HELLO)
    ok(answers == [("hello", b.hello)] and joined and name is None,
       "[unknown: hello that fits] it is answered, and its sender is there")
    ok(b.hello["dataset"] == DATA and b.hello["recipe"] == "r",
       "data set and recipe are those of the first who comes")
    for peer in ("one", "another"):
        answers, _, joined = b.hear(1, b"A", "hello", {**HELLO, "peer": peer})
        ok(answers[0][0] == "hello" and not joined and list(b.peers) == ["one"],
           "[known: hello that fits] it is answered and changes nothing")
    answers, _, joined = b.hear(1, b"A", "hello", {**HELLO, "version": 3})
    ok(answers[0][0] == "error" and not joined and list(b.peers) == ["one"],
       "[known: hello that does not fit] an error; the peer stays")
    ok(b.hear(2, b"A", "beat", {}) == ([], "one", False),
       "what a greeted peer says has its name")
    answers, name, _ = b.hear(2, b"B", "beat", {})
    ok(answers[0][1]["again"] and name is None,
       "[unknown: anything else] a stranger is asked for its hello")
    ok(b.hear(2.5, b"B", "beat", {})[0] == [] and
       b.hear(3.1, b"B", "beat", {})[0] != [], "once a second at most")
    ok(b.hear(9, b"C", "error", {"reason": "x"})[0][0][1]["again"],
       "also by an error")
    _, _, joined = b.hear(3, b"D", "hello", HELLO)
    ok(joined and b.peers["one"].conn == b"D" and b"A" not in b.names,
       "[unknown: hello of a name that is known] the new connection takes the "
       "place of the old one")
    for what, other in (
            ("foil3", {"version": 3}), ("empty", {"peer": ""}),
            ("data sets differ", {"dataset": {"digest": "cd" * 16, "size": 1}}),
            ("data sets differ", {"dataset": {**DATA, "size": 63}}),
            ("not as 's'", {"recipe": "s"}), ("'recipe'", {"recipe": ""})):
        answers, _, joined = b.hear(4, b"E", "hello",
                                    {**HELLO, "peer": "two", **other})
        ok(answers[0][0] == "error" and what in answers[0][1]["reason"] and
           not joined, f"[unknown: hello that does not fit] away: {what}")
    named = binder(run="mine")
    ok("not 'yours'" in named.hear(0, b"A", "hello", {
        **HELLO, "run": "yours"})[0][0][1]["reason"],
       "turned away: another run")
    b.hear(20, b"F", "hello", {**HELLO, "peer": "three"})
    b.peers["one"].lost = True
    ok(b.gone(20) == ["one"] and list(b.peers) == ["three"],
       "[known: it cannot be sent to] it has left")


def crowds():
    for patient in (False, True):
        b = foil.Binder({**HELLO, "recipe": ""}, patient)
        for i in range(1024):
            b.hear(i / 1e3, b"%d" % i, "hello", {**HELLO, "peer": f"p{i}"})
        b.hear(1.5, b"0", "beat", {})
        _, _, joined = b.hear(2, b"x", "hello", {**HELLO, "peer": "x"})
        ok(joined == patient and b.gone(2) == ["p1"] * patient and
           len(b.peers) == 1024, "no more than 1024 peers; at a service, who "
           "was silent for longest makes room" if patient else
           "no more than 1024 peers")
    for i in range(3000):
        b.hear(9, b"s%d" % i, "beat", {})
    ok(len(b.strangers) == 1024, "nor more strangers are kept in mind")


def silence():
    b = binder()
    b.hear(0, b"A", "hello", HELLO)
    b.hear(0, b"B", "hello", {**HELLO, "peer": "two"})
    b.hear(2.9, b"B", "beat", {})
    ok(b.gone(3) == [] and b.gone(3.2) == [],
       "the first look that finds a peer silent only makes it suspect")
    ok(b.gone(3.25) == [] and b.gone(3.31) == ["one"],
       "[known: nothing for 3 seconds] the second look, a tenth of a second "
       "later, finds it gone")
    ok(list(b.peers) == ["two"] and b.silent == {b"A": "one"},
       "the others stay; how it is reached is remembered")
    b.gone(6.0)
    b.hear(6.05, b"B", "beat", {})
    ok(b.gone(7) == [], "who speaks between the two looks stays")
    b = foil.Binder(HELLO, patient=True)
    b.hear(0, b"A", "hello", HELLO)
    ok(b.gone(60) == [] and b.gone(120) == [],
       "at a service silence says nothing")


def refusals():
    b = binder()
    b.hear(0, b"A", "hello", HELLO)
    told = [b.refuse(0.001 * i, "one", "no", "batch", (1, 2), 5)
            for i in range(20)]
    ok(sum(a is not None for a, _, _ in told) == 16,
       "of twenty refusals in a second sixteen are answered")
    ok([i + 1 for i, t in enumerate(told) if t[1]] == [1, 2, 4, 8, 16],
       "the 1st, 2nd, 4th, 8th and 16th are said")
    ok(told[0][0] == ("error", {
        "reason": "no", "kind": "batch", "count": 1, "session": 5, "epoch": 1,
        "step": 2}), "an answer names kind, place and count")
    b.good("one")
    away = [b.refuse(1 + i, "one", "no", "error")[2] for i in range(64)]
    ok(away == 63 * [False] + [True] and not b.peers,
       "after 64 in a row without a good one the peer is sent away")


def greeting_of_who_connects():
    c = foil.Caller(HELLO)
    ok(c.hear(0, "hello", HELLO) is False and not c.joined,
       "a hello that nobody waits for is dropped")
    ok(c.tick(0) == [("hello", HELLO)] and c.tick(0.9) == [],
       "[OUT: there is a connection] hello")
    ok(c.tick(1.0) == [("hello", HELLO)],
       "[GREETING: a second without an answer] hello")
    ok(c.hear(1, "item", {}) is False, "[GREETING: a message of the edge] it is "
       "dropped: it was meant for an earlier connection")
    ok(c.hear(1, "error", {"reason": "", "again": True}) is False and
       c.tick(1.5) == [], "an error with again changes nothing meanwhile")
    ok(c.hear(1, "error", {"reason": "bad", "kind": "batch"}) is True,
       "[any: error with kind] it is for the role, also then")
    ok(c.hear(2, "hello", {**HELLO, "stage": "train"}) == "joined" and
       c.tick(9) == [], "[GREETING: hello that fits] the greeting is over")
    ok(c.hear(2, "hello", HELLO) is False, "a second answer is nothing new")
    ok(c.hear(3, "item", {}) is True,
       "[IN: a message of the edge] it is for the role")
    ok(c.hear(4, "error", {"reason": "", "again": True}) is False and
       c.tick(4) == [("hello", HELLO)],
       "[IN: error with again] hello is said again")
    c.hear(5, "hello", HELLO)
    ok(c.hear(5, "error", {"reason": "bad", "kind": "batch"}) is True,
       "an error about one message ends nothing")
    c.begin()
    ok(c.tick(6) == [("hello", HELLO)] and not c.joined,
       "[any: the connection is lost] hello")
    ok(refuses(foil.Unfit, "another run", c.hear, 6, "error",
               {"reason": "another run"}),
       "[any: error without again, id and kind] it ends us")
    other = {**HELLO, "dataset": {"digest": "cd" * 16, "size": 64}}
    ok(refuses(foil.Unfit, "data sets differ", c.hear, 6, "hello", other),
       "[any: hello that does not fit] it ends us")


def snap(place, have=(), serial=1, session=1, window=8):
    return foil.Snapshot(session, serial, place, window, frozenset(have))


def consumer():
    c = foil.Consumer(7, (0, 0), 3)
    ok(c.tick(0.02, False) and c.serial == 1, "the first snapshot has serial 1")
    ok(not c.tick(0.5, False) and c.tick(1.1, False) and c.serial == 1,
       "[consumer: each second] it is repeated, with its serial")
    ok(c.tick(2.2, True) and c.serial == 2,
       "[consumer: nothing else to be done] while the next batch is missing, "
       "each second brings a new one")
    ok(not c.wants(6, (0, 1)),
       "[consumer: batch of another session, trained, or there] "
       "one of another session is not wanted")
    ok(c.hold((0, 2), "c") and c.hold((0, 4), "e") and c.hold((0, 1), "b"),
       "[consumer: batch that is wanted] they are held in any order")
    ok(not c.tick(2.205, True) and c.tick(2.22, True) and
       c.snapshot().have == {(0, 1), (0, 2), (0, 4)},
       "[consumer: have changed] it is told within 10 ms")
    ok(not c.wants(7, (0, 1)), "one that is held is not wanted again")
    ok(not c.hold((0, 5), "f"), "one above all that is held finds no room")
    ok(c.hold((0, 0), "a") and (0, 4) not in c.snapshot().have,
       "[consumer: batch above window] for a lower one the highest is dropped, "
       "and stands in no snapshot")
    ok(c.take() == "a" and (0, 0) in c.snapshot().have and
       not c.wants(7, (0, 0)) and c.tick(2.24, False),
       "[consumer: batch of the place] it is being trained, counts as held, and "
       "that is told")
    c.go((0, 1))
    ok(not c.wants(7, (0, 0)), "nor is it wanted any more")
    ok(c.tick(2.26, False) and c.snapshot().place == (0, 1),
       "[consumer: place changed] it is told")
    ok(c.take() == "b", "in order")
    c.end("x", (0, 1))
    ok(not c.over(3, ["x", "y"]) and not c.over(4, []) and
       not c.over(5, ["x"]), "the plan is not over when one says so")
    ok(not c.over(7.9, ["x"]) and c.over(8, ["x"]),
       "[consumer: end of all peers, at or before the place] but when all who "
       "are there do, for three seconds")
    c.hold((0, 1), "b")
    ok(not c.over(20, ["x"]) and not c.over(24, ["x"]),
       "[consumer: batch behind an end] a batch that comes proves them wrong")
    c.end("x", (0, 1))
    c.over(30, ["x"])
    ok(not c.over(32, []) and not c.over(34, ["x"]) and c.over(37, ["x"]),
       "the three seconds are in one piece")
    c.take()
    c.epochs = 1
    c.go((1, 0))
    ok(c.over(40, []), "or by the epochs that batches name")
    m = foil.Snapshot.of(*c.snapshot().message()[1:])
    ok(m == c.snapshot(), "a snapshot is the same after its message")


def producer():
    p = foil.Producer(lambda e: 4, 2, lease=10)
    ok(p.turn(0) is None, "nothing is handed out before somebody asks")
    p.joined("a")
    ok(p.turn(0) is None, "nor to one that has only said hello")
    p.next(0, "a", snap((0, 0), window=6), 2)
    p.next(0, "b", snap((0, 0), window=6), 2)
    got = [p.turn(0) for _ in range(5)]
    ok([g and g[1] for g in got] == [(0, 0), (0, 1), (0, 2), (0, 3), None],
       "[producer: place wanted and free] each of the window goes to one, to each "
       "no more than its room")
    ok([g[0] for g in got[:4]] == ["a", "b", "a", "b"], "evenly")
    p.next(1, "a", snap((0, 1), [(0, 3)], 2), 2)
    ok(sorted(p.leases) == [(0, 1), (0, 2)],
       "[producer: place trained, or in have] it is leased no more")
    ok(p.now.place == (0, 1), "[producer: next, newer] it counts")
    p.next(1, "b", snap((0, 0), [], 1), 2)
    ok(p.now.place == (0, 1) and sorted(p.leases) == [(0, 1), (0, 2)],
       "[producer: next, older] it changes nothing")
    ok([p.turn(1)[1], p.turn(1)[1], p.turn(1)] == [(1, 0), (1, 1), None],
       "the window goes on in the next epoch")
    ok(p.gone("a") == 2 and p.turn(2) is None,
       "[producer: peer gone] its items wait for room")
    p.next(2, "c", snap((0, 1), [(0, 3)], 2), 2)
    ok(p.turn(2) == ("c", (0, 2)), "and go to others, lowest first")
    p.next(2, "c", snap((0, 1), [], 3), 3)
    ok(p.turn(2) == ("c", (0, 3)),
       "[producer: place no longer in have] it goes out again")
    p.next(2, "c", snap((0, 0), [], 4), 3)
    ok(not p.leases and p.turn(2) == ("c", (0, 0)),
       "[producer: next, newer, of a place before] all is free")
    p.peers["c"].late = 1
    p.next(3, "c", snap((0, 0), [], 1, session=2), 2)
    ok(p.now.session == 2 and not p.leases and not p.peers["c"].late,
       "[producer: next, of a newer session] all leases are void, nobody is late")


def late_holders():
    p = foil.Producer(lambda e: 9, 1, lease=10)
    p.next(0, "a", snap((0, 0), window=2), 2)
    p.next(0, "b", snap((0, 0), window=2), 2)
    ok([p.turn(0), p.turn(0)] == [("a", (0, 0)), ("b", (0, 1))], "two leases")
    p.next(60, "b", snap((0, 0), serial=2, window=2), 2)
    ok(p.tick(60) == [] and len(p.leases) == 2,
       "[producer: lease too old] what comes all at once after a pause costs no "
       "lease")
    p.next(60.05, "a", snap((0, 0), serial=3, window=2), 2)
    ok(p.tick(70) == [] and len(p.leases) == 2,
       "nor does a trainer that says nothing new")
    p.next(71, "b", snap((0, 0), [(0, 1)], 4, window=2), 2)
    said = p.tick(71)
    ok(said == ["augmenter 'a' did not deliver epoch 0, step 0 within 10 "
                "seconds: its 1 items go to others, and it gets none for 40 "
                "seconds"],
       "[producer: lease too old, and a later next without its place] its holder "
       "is named")
    ok(p.peers["a"].late == 1 and p.peers["b"].late == 0, "the other is not")
    ok(p.turn(71) == ("b", (0, 0)), "the place goes to another")
    p.next(72, "b", snap((0, 2), [], 5, window=4), 1)
    ok([p.turn(72), p.turn(72)] == [("b", (0, 2)), None],
       "who was late gets nothing while others are there")
    p.next(112, "a", snap((0, 2), [], 5, window=4), 2)
    ok([p.turn(112), p.turn(112)] == [("a", (0, 5)), None],
       "[producer: peer late, that time over] after four leases one item, the "
       "highest")
    p.next(113, "b", snap((0, 2), [(0, 5)], 6, window=4), 1)
    ok(p.peers["a"].late == 0 and p.turn(113) == ("a", (0, 3)),
       "what it delivers clears it")
    p.gone("b")
    for now in (124, 136):
        p.tick(now - 1)
        p.next(now, "a", snap((0, 2), [(0, 5)], now, window=4), 2)
        ok(len(p.tick(now)) == 1 and p.turn(now) == ("a", (0, 2)),
           "[producer: all peers late] where nobody else is there, being late "
           "counts for nothing")


def first_snapshots():
    p = foil.Producer(lambda e: 9, 1, lease=10)
    p.joined("a")
    p.next(0, "a", snap((0, 0), window=2), 1)
    ok(p.turn(0) == ("a", (0, 0)) and p.tick(10) == [], "a lease is over")
    p.joined("b")
    p.next(11, "b", snap((0, 0), serial=2, window=2), 1)
    ok(p.now.serial == 2 and p.tick(11) == [] and p.turn(11) == ("b", (0, 1)),
       "[producer: first next of a peer] it counts, but makes nobody late")
    p.next(12, "b", snap((0, 0), serial=3, window=2), 1)
    ok(len(p.tick(12)) == 1, "its second one does")


def refusals_of_items():
    p = foil.Producer(lambda e: 9, 1, lease=10)
    p.next(0, "a", snap((0, 0)), 1)
    ok(p.turn(0) == ("a", (0, 0)), "an item")
    p.refuse(0, "a", (0, 1))
    ok((0, 0) in p.leases, "one that it does not have is nothing to refuse")
    now = 0
    for pause in (1, 2, 4, 8, 16, 32, 32):
        p.refuse(now, "a", (0, 0))
        early = p.turn(now + pause - 0.1)
        now += pause
        ok(early is None and p.turn(now) == ("a", (0, 0)),
           f"[producer: error of an item] who refuses gets nothing for {pause} s")


def false_snapshots():
    p = foil.Producer(lambda e: 9, 1, lease=10)
    p.next(0, "a", snap((0, 0)), 1)
    p.next(0, "b", snap((0, 7), serial=99), 1)
    ok(p.now.place == (0, 7), "a newer snapshot counts")
    for now in (1, 2, 2.9, 3.1, 4):
        p.next(now, "a", snap((0, 0), serial=2), 1)
    ok(p.now.place == (0, 7), "an older one does not")
    p.next(4.2, "a", snap((0, 0), serial=2), 1)
    ok(p.now.place == (0, 0) and p.turn(4.2) == ("a", (0, 0)),
       "[producer: next, older, for 4 s in which nobody says the newer one] it "
       "counts then")
    p.next(5, "b", snap((0, 5), serial=9), 1)
    p.ended(6, "b", p.now.session)
    p.gone("b")
    for now in range(7, 36):
        p.next(now, "a", snap((0, 0), serial=2), 1)
    ok(p.now.place == (0, 5) and not p.finished(35.9) and p.finished(36),
       "[producer: next, older, the same again, after an end] it changes "
       "nothing, and the run is over")
    for now in range(37, 42):
        p.next(now, "a", snap((0, 1), serial=3 + now - 37), 1)
    ok(p.now.place == (0, 1), "new ones of a trainer that goes on count")


def end_of_a_plan():
    p = foil.Producer(lambda e: 2, 2, lease=10)
    p.next(0, "a", snap((0, 0), window=4), 9)
    ok(p.end() is None, "no end while the plan is as long as the window")
    p.next(1, "a", snap((0, 1), serial=2, window=4), 9)
    ok(p.end() == (2, 0),
       "[producer: plan ends in the window] the place behind it is told")
    steps = {0: 2}
    p = foil.Producer(steps.get, 2, lease=10)
    p.next(0, "a", snap((0, 1), window=4), 9)
    ok(p.turn(0)[1] == (0, 1) and p.turn(0) is None and p.end() is None,
       "an epoch that is not planned yet is neither handed out nor the end")
    steps[1] = 2
    ok(p.turn(1)[1] == (1, 0), "once it is planned, it is")
    p.next(2, "a", snap((0, 2), serial=2, window=4), 9)
    ok(next(p.wanted()) == (1, 0),
       "behind the last step of an epoch is the next one")


def end_of_a_run():
    p = foil.Producer(lambda e: 9, 1, lease=10)
    p.next(0, "a", snap((0, 8)), 1)
    p.next(1, "a", snap((1, 0), serial=2), 1)
    ok(not p.finished(6.9) and p.finished(7),
       "[producer: place behind the plan, for 6 s] the run is over")
    p = foil.Producer(lambda e: 9, 1, lease=10)
    for peer in "abc":
        p.joined(peer)
        p.next(0, peer, snap((0, 3)), 1)
    p.ended(0, "a", 6)
    ok(not p.finished(99), "the end of another session is none")
    p.ended(1, "a", 1)
    p.ended(9, "a", 1)
    ok(not p.finished(30.9) and p.finished(31),
       "[producer: end of one peer] it counts when nothing is trained for 30 s")
    p.next(20, "b", snap((0, 4), serial=2), 1)
    ok(not p.finished(49.9), "a step puts that off")
    p.ended(50, "b", 1)
    ok(not p.finished(50), "two of three say so")
    p.gone("c")
    ok(p.finished(50), "[producer: end of all peers] all who are there do")
    p.gone("a")
    p.gone("b")
    ok(p.finished(50), "who has left may have been right")
    p.joined("a")
    ok(not p.finished(50), "one that comes does not say so")


def relay():
    r = foil.Relay(2)
    r.put(1, (0, 0), "early")
    ok(r.take() is None, "no item counts before the trainer has spoken")
    ok(r.next(snap((0, 1), [(0, 2)])) and not r.next(snap((0, 0), serial=0)),
       "[relay: next, newer] it is handed on")
    ok(not r.next(snap((0, 0), serial=0)) and r.now.place == (0, 1),
       "[relay: next, older] it changes nothing")
    for step in (3, 1, 2, 0):
        r.put(1, (0, step), step)
    r.put(2, (0, 4), "other")
    made = [r.take(), r.take(), r.take()]
    ok([e and e.item for e in made] == [1, 3, None],
       "[relay: items wait] the lowest that is wanted is made first")
    ok(sorted(r.entries) == [(0, 1), (0, 2), (0, 3)],
       "[relay: item that is trained, of another session, or there] it is dropped")
    r.made(made[1], "three")
    r.made(made[0], "one")
    ok(r.room() == 2 and [r.ready(), r.ready(), r.ready()] ==
       ["one", "three", None] and r.room() == 4,
       "[relay: batches are made] the lowest is sent first; what is sent counts "
       "on top of the room")
    r.next(snap((0, 1), [(0, 1)], serial=2))
    ok(r.room() == 3 and (0, 1) not in r.entries,
       "[relay: place in have] its batch is dropped")
    ok(r.take().item == 2, "an item that it had, and has no more, is made")
    r.put(1, (0, 3), "again")
    ok(r.take().item == 3,
       "[relay: item whose batch is sent] it is made again")
    r = foil.Relay(2)
    r.next(snap((0, 0)))
    for step in range(4):
        r.put(1, (0, step), step)
    ok(len(r.entries) == 4, "[relay: item] it waits, how many there are")
    for step in range(2):
        r.made(r.take(), step)
    ok(r.take() is None, "no more batches are kept than there is room for")
    ok([r.ready(), r.ready()] == [0, 1], "they go out")
    r.lost()
    ok(r.take().item == 0, "[relay: connection to the consumer renewed] what was "
       "sent is made again")
    entry = r.take()
    r.next(snap((0, 4), serial=2))
    r.made(entry, "late")
    ok(r.take() is None and r.ready() is None and r.room() == 2,
       "[relay: place trained] its item is dropped, made or not")


run(greeting_of_who_binds, crowds, silence, refusals, greeting_of_who_connects,
    consumer, producer, late_holders, first_snapshots, refusals_of_items,
    false_snapshots, end_of_a_plan, end_of_a_run, relay)
