"""The machines of foil.py for services and their clients, without sockets and
without a clock."""
import numpy as np

import foil
from tap import ok, refuses, run


def client():
    mirror = foil.Mirror("emc2 2", 5, {"a": np.ones((4, 2), "u1")})
    mirror.PIECE = 4
    c = foil.Client(lambda: mirror.pieces({"session": 1, "epoch": 0,
                                           "step": 5}), 10)
    ids = []

    def put(said, rows):
        """Whether a piece is handed over, under a new id."""
        (kind, head, tensors), = said
        ids.append(head["id"])
        return kind == "state.put" and head["from"] == rows and \
            len(set(ids)) == len(ids)
    taken = lambda: c.hear(0, "state.ok", {"id": c.waits}, {})
    ok(c.ask(0, "pairs", {"beta": 1.0}) == [] and
       foil.Client().ask(0, "plan", {}) == [], "no request before the greeting")
    old = c.request[1]["id"]
    ok(put(c.joined(0, "s1"), 0),
       "[any: greeted by another service] the first piece of the state")
    ok(c.joined(0, "s1")[0][1]["id"] == c.waits,
       "[any: greeted by the same] the same piece again")
    ok(put(taken(), 2), "[STATE: state.ok with the id] the next piece")
    ok(put(c.hear(0, "error", {"id": c.waits, "reason": "", "state": True}, {}),
           0), "[STATE: error with id and state] from the first piece on")
    taken()
    (kind, head, _), = taken()
    one = head["id"]
    ok(kind == "pairs" and one > max(old, c.waits or old),
       "[READY: there is a request] after the last piece it is sent, under an "
       "id above those of the pieces")
    ok(c.joined(0, "s1")[0][1]["id"] == one,
       "[any: greeted by the same] no state, but the same request")
    ok(c.hear(1, "weights", {"id": 77}, {}) == [] and c.answer is None,
       "[any: another id] it is dropped")
    ok(c.hear(1, "error", {"id": one, "kind": "pairs", "reason": ""}, {}) == []
       and c.answer is None, "[any: error with kind] it is no answer")
    again = c.hear(1, "error", {"id": one, "reason": "", "state": True}, {})
    ok(put(again, 0), "[READY: error with id and state] the state")
    taken()
    (kind, head, _), = taken()
    ok(kind == "pairs" and head["id"] > one, "and the request again")
    one = head["id"]
    ok(not c.silent(10) and c.silent(10.1),
       "[any: no answer in time] silence is found")
    c.hear(12, "weights", {"id": one}, {"w": 1})
    ok(c.answer[0] == "weights" and not c.silent(99),
       "[READY: answer with the id] it ends the wait")
    c.refuse()
    ok(c.answer is None and c.silent(10.1) and
       c.joined(13, "s1")[0][1]["id"] == one,
       "[any: answer that does not fit] it counts as none")
    c.hear(14, "error", {"id": one, "reason": "cannot"}, {})
    ok(c.answer[0] == "error" and c.ask(15, "pairs", {})[0][1]["id"] > one,
       "[READY: error with id] the role is told, and asks again")
    c.hear(15, "weights", {"id": c.request[1]["id"]}, {"w": 1})
    ok(c.joined(15, "s2") == [] and c.ready,
       "while a step uses weights, no other service is given the state, which "
       "lacks what the step changes")
    ok(put(c.done(15), 0), "but when it is over")
    taken(), taken()
    ok(c.ready and c.done(16) == [], "once")
    ok(put(c.done(16, False), 0), "[READY: a step was not applied] the state")
    ok(refuses(foil.Unfit, "of another", c.hear, 17, "error",
               {"id": c.waits, "reason": "of another sampler"}, {}),
       "[STATE: error with id] it ends the trainer")
    c.joined(18, "s3")
    want = {"reason": "what?", "state": True}
    for _ in range(7):
        c.hear(18, "error", {**want, "id": c.waits}, {})
    ok(refuses(foil.Unfit, "what?", c.hear, 18, "error",
               {**want, "id": c.waits}, {}),
       "so does a service that wants it eight times")
    f = foil.Client()
    f.ask(0, "features.get", {"epoch": 0})
    ok(f.joined(0, "t1")[0][0] == "features.get",
       "[any: greeted by another service] without a state the request")
    ok(f.id > 10 ** 18, "ids begin with the time")


def mirror():
    m = foil.Mirror()
    rows = lambda *x: np.array(x, "u1")
    head = {"store": [["t", 3, 2]]}
    m.take(head, {"t.at": np.array([0, 2, 0]),
                  "t.row": rows([1, 1], [2, 2], [3, 3])})
    ok(not m.tables, "rows count when the step is applied, not before")
    m.apply()
    ok(m.tables["t"].tolist() == [[3, 3], [0, 0], [2, 2]],
       "a table begins as zeros; of a row that comes twice the later counts")
    m.take({"store": [["t", 5, 2]]}, {})
    m.apply()
    ok(m.tables["t"].shape == (5, 2), "a table may grow")
    for what, bad in (
            ("a row outside", (head, {"t.at": np.array([3]),
                                      "t.row": rows([1, 1])})),
            ("rows of another width", (
                {"store": [["t", 5, 2]]}, {"t.at": np.array([3]),
                                           "t.row": rows([1])})),
            ("fewer rows than there were", (head, {})),
            ("a store that is none", ({"store": [["t"]]}, {}))):
        ok(refuses(foil.Refused, "weights", m.take, *bad), f"refused: {what}")
    m = foil.Mirror("s", 9, {"a": np.arange(40, dtype="u1").reshape(10, 4),
                             "b": np.ones((2, 3), "u1")})
    m.PIECE = 12
    out = {"a": np.zeros((10, 4), "u1"), "b": np.zeros((2, 3), "u1")}
    pieces = m.pieces({"session": 1})
    for h, t in pieces:
        for name, row in t.items():
            out[name[:-4]][h["from"]:h["from"] + len(row)] = row
    ok(all((out[k] == m.tables[k]).all() for k in out) and
       [h["last"] for h, _ in pieces] == (len(pieces) - 1) * [False] + [True]
       and max(r.nbytes for _, t in pieces for r in t.values()) <= 12,
       "a state goes over in pieces, the last of which says so")
    ok(len(foil.Mirror().pieces({})) == 1, "an empty one is one piece")


def service():
    s = foil.Service()
    s.answer("a", {"id": 3}, ("weights", 3))
    ok(s.asked("a", {"id": 3}) and s.asked("a", {"id": 4}) is None
       and s.asked("b", {"id": 3}) is None,
       "[the id that was answered last] the same answer")
    ok("ids rise" in s.asked("a", {"id": 2})[1]["reason"],
       "[an id below that] it is late")
    s.answer("a", {"id": 5}, ("error", 5))
    ok(s.asked("a", {"id": 5}) is None and s.asked("a", {"id": 3}),
       "errors are not kept")
    for i in range(100):
        s.answer(f"p{i}", {"id": 1}, ("weights", 3))
    ok(len(s.last) == 64 and s.asked("p99", {"id": 1}),
       "one is kept for each of 64 peers")


def sampler(keeps=()):
    """A service without sockets: what it says to requests."""
    s = foil._Sampler.__new__(foil._Sampler)
    s.sampler, s.keeps, s.state = "mine", set(keeps), foil.State()
    s._size = lambda: 8
    s.weigh = lambda pairs: np.full((2, 2), .5)
    return s


def put(s, name, session, step=0, tables=(), rows=None, **more):
    head = {"id": 1, "session": session, "epoch": 0, "step": step,
            "sampler": "mine" if tables else "", "total": step,
            "tables": [list(t) for t in tables], "last": True, **more}
    return s._state_put(name, head, {} if rows is None else rows)


def pairs(s, name, session, step):
    head = {"id": 2, "session": session, "epoch": 0, "step": step, "beta": 1.0}
    return s._pairs(name, head, {"z": np.ones((2, 1, 1), "f4"),
                                 "ids": np.arange(1)})


def service_with_a_state():
    s = sampler()
    wants = lambda answer: answer[0] == "error" and answer[1].get("state")
    refused = lambda answer: answer[0] == "error" and "state" not in answer[1]
    ok(wants(pairs(s, "a", 5, 0)), "[pairs, where it does not stand there] "
       "before a state it wants one")
    ok(put(s, "a", 5)[0] == "state.ok", "[state.put, each piece] state.ok")
    ok(wants(pairs(s, "a", 6, 0)), "it wants one for another session")
    ok(pairs(s, "a", 5, 0)[0] == "weights", "[pairs] weights")
    ok(wants(pairs(s, "a", 5, 0)), "it wants one for a place before")
    ok(refused(s._pairs("a", {"id": 2, "session": 5, "epoch": 0, "step": 1},
                        {"z": np.full((2, 1, 1), 3, "f4")})),
       "[pairs that will not do] an error with the id")
    judge = lambda name, session, there: s.state.judge(
        name, session, lambda other: there)
    judge("a", 4, True)
    ok(refuses(foil.Refused, "still connected", judge, "b", 9, True),
       "[another peer, the owner is connected] it is refused")
    ok(refuses(foil.Refused, "newer", judge, "b", 4, False),
       "[another peer, with an older session] it is refused")
    judge("b", 5, False)
    ok(pairs(s, "b", 5, 1)[0] == "weights" and s.state.owner == "b",
       "the same session goes on, once the owner is gone")
    row = lambda n: {"t.row": np.full((n, 2), 7, "u1")}
    t = [("t", 3, 2)]
    ok(put(s, "b", 5, 2, t, row(2), last=False)[0] == "state.ok" and
       not s.state.tables, "half of a table does not count yet")
    for what, at in (("the same rows", {"from": 1}),
                     ("of another place", {"from": 2, "step": 3})):
        ok(wants(put(s, "b", 5, **{"step": 2, **at}, tables=t, rows=row(1))),
           f"[state.put that does not follow] begin again: {what}")
    ok(put(s, "b", 5, 2, t, row(1), **{"from": 2})[0] == "state.ok" and
       (s.state.tables["t"] == 7).all(), "the other half: all of it counts")
    for what, bad in (
            ("another sampler", {"sampler": "its"}),
            ("rows of another width", {"rows": {"t.row": np.ones((3, 1), "u1")}}),
            ("too many rows", {"rows": row(4)}),
            ("too many bytes", {"tables": [("t", 3, 1 << 40)]}),
            ("no table", {"tables": [("t",)]}),
            ("rows that are missing", {"rows": row(2)})):
        ok(refused(put(s, "b", 5, 2, **{"tables": t, "rows": row(3), **bad})) and
           (s.state.tables["t"] == 7).all(),
           f"[state.put that will not do] it stands where it stood: {what}")
    ok(refused(put(sampler(["t"]), "b", 5, 2)),
       "[state.put that will not do] a state without its tables")


run(client, mirror, service, service_with_a_state)
