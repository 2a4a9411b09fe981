#!/usr/bin/env python3
"""Every rule of the protocol is tested: each is switched off once; then its
witness, a check of a unit test, has to fail, and schedules of the simulation.

usage: tests/flow/rules.py [--quick] [NAME...]     or: make rules

A rule is switched off in a copy of its source, which is linked before the
library; OUT (build/release) has that and the tests.  --quick takes each eighth
rule and no simulation.  Exits with 1 when a row does not fit the sources, a
witness passes without its rule, or all of 20,000 schedules pass without it.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

OUT = os.environ.get("OUT", "build/release")
CC = os.environ.get("CC", "gcc").split()
P, R, C, G, E, A, K = [f"lib/flow/{name}.c" for name in (
    "producer", "relay", "consumer", "greeting", "link", "request", "handover")]
PRODUCER = "flow/test_producer", "flow/test_late"
TESTS = {P: PRODUCER, R: ("flow/test_relay",),
         C: ("flow/test_consumer",),
         G: ("flow/test_greeting", "flow/test_peer_table"),
         E: ("flow/test_request",), A: ("flow/test_request",),
         K: ("flow/test_handover",)}
# tested by their witnesses alone: 20,000 schedules pass without them
UNSEEN = ("relay: while it is paused, there is no room",
          "producer: a peer without room gives its items back",
          "producer: nor by the first snapshot of a peer",
          "producer: nor by one that its peer repeats",
          "binder: a silent peer leaves")
SIMULATIONS = {E: ("flow/test_services",), A: ("flow/test_services",),
               K: ("flow/test_services", "flow/test_simulation")}

# rule, file, its code, the code without the rule, the beginning of the name of
# its witness, with or after a row of foil-wire(5) in brackets
RULES = [
    ("producer: a peer without room gives its items back", P,
     "if (!peer->room)\n        revoke_leases(p, number);",
     "",
     "its leases are void, and it gets none"),
    ("producer: an older snapshot is ignored", P,
     "order > 0 || (order < 0 &&",
     "order != 0 || (order < 0 &&",
     "an older snapshot changes nothing"),
    ("producer: a snapshot that no peer repeats was not true", P,
     "now - p->confirmed < FLOW_LAPSE",
     "1",
     "the true one replaces it after"),
    ("producer: and is replaced only after a second", P,
     "now - p->older >= older_wait_s",
     "1",
     "an older one after a pause of ours is not accepted at once"),
    ("producer: but not by the same again once the run is over", P,
     "(any_ended(p) && !is_new)",
     "0",
     "[producer: want, older, the same again, after an end]"),
    ("producer: although by new ones", P,
     "(any_ended(p) && !is_new)",
     "any_ended(p)",
     "new ones of a trainer that continues count"),
    ("producer: the run is over when all report it", P,
     "any_ended(p) && (all ||",
     "any_ended(p) && (0 ||",
     "[producer: end of all peers]"),
    ("producer: not when one does", P,
     "(all || now - p->moved >= FLOW_QUIET)",
     "1",
     "one of three does"),
    ("producer: unless nothing changes", P,
     "(all || now - p->moved >= FLOW_QUIET)",
     "all",
     "[producer: end of one peer]"),
    ("producer: the end of the plan is after the places that it skips", P,
     "if (wire_place_cmp(end, &p->next_new) > 0)",
     "if (0)",
     "the end of the plan is after places that are not in the book"),
    ("producer: and when all is trained", P,
     "if (all_trained(p, now))",
     "if (0)",
     "[producer: place behind the plan, for 6 s]"),
    ("producer: for longer than a false snapshot lasts", P,
     "now - p->moved >= FLOW_TRAINED",
     "1",
     "[producer: place behind the plan, for 6 s]"),
    ("producer: a delivered item ends its lease", P,
     "i < trained || flow_snapshot_has(&p->newest, &lease->at)",
     "i < trained",
     "a delivered item ends its lease, and more are sent"),
    ("producer: a dropped item is free again", P,
     "lease->state = FREE;\n    }\n    p->n -= trained",
     "(void)0;\n    }\n    p->n -= trained",
     "a dropped item is sent again"),
    ("producer: a delivery ends being late", P,
     "peer->late = peer->refused = 0;\n        peer->suspended = 0;",
     "",
     "a peer that delivers is not late any more: the other one is suspended"),
    ("producer: in another session no peer is late", P,
     "if (new_session)\n        reset_peers(p);",
     "",
     "in another session no peer is late"),
    ("producer: leases of a peer that is gone are revoked", P,
     "const size_t taken = revoke_leases(p, peer);",
     "const size_t taken = 0;",
     "a peer that leaves had two items"),
    ("producer: a late peer loses its leases", P,
     "p->received > lease->over + recheck_s",
     "0",
     "both peers are late by a snapshot that was received later"),
    ("producer: not while the consumer computes", P,
     "p->received > lease->over + recheck_s",
     "1",
     "no peer is late by the next pending snapshot"),
    ("producer: nor by messages that arrive all at once", P,
     "lease->over + recheck_s",
     "lease->since + p->lease_s",
     "a producer that was stopped for long reads a snapshot"),
    ("producer: nor by the first snapshot of a peer", P,
     "order > 0 && is_new",
     "order > 0",
     "no peer is late by the first snapshot of a peer"),
    ("producer: nor by one that its peer repeats", P,
     "order > 0 && is_new",
     "order > 0 && peer->serial > 0",
     "no peer is late by a snapshot that its peer sent before"),
    ("producer: a late peer is suspended", P,
     "peer->suspended = now + late->aside;",
     "",
     "a late peer gets nothing for four leases, though others have no room"),
    ("producer: then gets one item at a time", P,
     "peer->late && !any ? 1 : peer->room",
     "peer->room",
     "after four leases it gets one, the last that is wanted"),
    ("producer: the highest", P,
     "if (peer->late && !any)",
     "if (0)",
     "after four leases it gets one, the last that is wanted"),
    ("producer: if all are late, none is", P,
     "any = all_late(p);",
     "any = 0;",
     "both get items as before"),
    ("producer: the less often late peer first", P,
     "worse = best && peer->late > best->late,",
     "worse = 0,",
     "the less often late peer is next, whatever the room"),
    ("producer: the most room first", P,
     "(n == most && peer->served < best->served)",
     "(peer->served < best->served)",
     "rooms of 3 and 1: the most room first"),
    ("producer: of equal room the least recently served", P,
     "(n == most && peer->served < best->served)",
     "0",
     "rooms of 3 and 1: the most room first"),
    ("producer: the lowest place first", P,
     "lease = find_free(p, 0);",
     "lease = find_free(p, 1);",
     "the lowest first, in turn"),
    ("producer: only to peers of the session", P,
     "peer->session == p->newest.at.session && peer->room",
     "peer->room",
     "a peer without it gets nothing of it"),
    ("producer: no more than room", P,
     "peer->out >= room ||",
     "",
     "no peer gets more than a smaller room"),
    ("producer: the end of the plan is sent again", P,
     "now - peer->notified >= notify_every_s)",
     "now - peer->notified >= 1e8)",
     "after a second the end is sent again to a peer that wants items"),
    ("relay: an older snapshot is ignored", R,
     "if (flow_snapshot_order(&r->newest, want) <= 0)\n        return 0;",
     "",
     "a snapshot that is not newer changes nothing"),
    ("relay: the lowest is made first", R,
     "(!best || wire_place_cmp(&e->at, &best->at) < 0)",
     "!best",
     "the lowest is made first"),
    ("relay: a sent batch is made again after a new connection", R,
     "if (r->entry[i].state == SENT)\n"
     "            r->entry[i].state = WAITING;",
     "(void)r;",
     "after the connection was lost, all missing batches are"),
    ("relay: and when the producer hands its item out again", R,
     "if (i < r->n && r->entry[i].state == SENT)\n"
     "        r->entry[i].state = WAITING;",
     "",
     "an item handed out again is made again"),
    ("relay: while it is paused, there is no room", R,
     "r->paused ? 0",
     "r->paused ? r->room",
     "a paused relay has room for none"),
    ("relay: sent batches count on top of room", R,
     "r->room + count_entries(r, SENT)",
     "r->room",
     "a sent one makes room for another"),
    ("relay: no more than room batches are stored", R,
     "|| count_entries(r, MADE) >= r->room",
     "",
     "no more batches are stored than there is room for"),
    ("relay: the newest is sent to a producer without it", R,
     "r->notified = 0;\n    r->sent_at = -resend_s;",
     "",
     "a producer that forgot us gets the snapshot at once"),
    ("relay: the newest is sent each second", R,
     "is_new ? 0 : resend_s",
     "is_new ? 0 : 1e8",
     "the room is sent, and again after a second"),
    ("relay: a new room is sent at once", R,
     "!r->notified || r->room_sent != count_room(r)",
     "!r->notified",
     "a sent one makes room for another"),
    ("relay: a waiting item remains although the consumer has it", R,
     "if (e->state == WAITING)\n        return is_past(r, &e->at);",
     "",
     "a batch that the consumer has is dropped; an item remains"),
    ("relay: an item of this session is stored with one in the making", R,
     "a->session == b->session && !wire_place_cmp(a, b)",
     "!wire_place_cmp(a, b)",
     "an item is stored while its place is made for a session that is over"),
    ("consumer: a new snapshot while it waits", C,
     "c->urgent |= now - c->snapshot_at >= resend_s;",
     "(void)c; (void)now;",
     "a new snapshot shows that nothing arrived"),
    ("consumer: the newest again each second", C,
     "now - peer->notified < resend_s)",
     "1)",
     "the same snapshot again after a second"),
    ("consumer: a new snapshot when the place changes", C,
     "c->urgent |= c->taken || wire_place_cmp(at, &c->at);",
     "(void)c;",
     "a trained item is sent at once"),
    ("consumer: and when the held items do", C,
     "(c->changed && now - c->since >= gather_s)",
     "0",
     "changes at the same time share a snapshot"),
    ("consumer: also before a batch is trained", C,
     "c->urgent |= was;",
     "(void)was;",
     "at once, when an item is due; the item in training counts"),
    ("consumer: the item in training is held", C,
     "if (c->taken)\n        add_place(have, &want.n_have, &c->at);",
     "",
     "at once, when an item is due; the item in training counts"),
    ("consumer: the farthest is dropped for a nearer one", C,
     "if (i == c->n)\n            return item;",
     "return item;",
     "one before it replaces the farthest"),
    ("consumer: no more than the window is held", C,
     "c->n + (size_t)c->taken >= c->window",
     "0",
     "one after it is dropped"),
    ("consumer: the serial rises", C,
     "++c->serial",
     "c->serial += !c->serial",
     "the same snapshot again after a second"),
    ("consumer: a trained item is not wanted", C,
     "wire_place_cmp(at, &c->at) >= c->taken &&",
     "",
     "an item that was taken is neither wanted nor taken again"),
    ("consumer: nor one of another session", C,
     "at->session == c->at.session &&\n",
     "",
     "one of another session is not wanted"),
    ("consumer: an item cancels an end", C,
     "    cancel_ends(c, at);\n",
     "    (void)cancel_ends;\n",
     "an item cancels it"),
    ("consumer: all peers report the end, not one", C,
     "all ? FLOW_ALL_ENDED",
     "some ? FLOW_ALL_ENDED",
     "one reports the end"),
    ("greeting: hello again each second", G,
     "now - greeting->sent < hello_retry_s",
     "1",
     "[GREETING: a second without an answer]"),
    ("greeting: hello again when it is requested", G,
     "if (greeting->state == FLOW_IN)\n        greeting->state = FLOW_OUT;",
     "(void)greeting;",
     "[IN: error with rehello]"),
    ("greeting: a lost connection is greeted again", G,
     "flow_greeting_lost(struct flow_greeting *greeting)\n"
     "{\n"
     "    greeting->state = FLOW_OUT;",
     "flow_greeting_lost(struct flow_greeting *greeting)\n"
     "{\n"
     "    (void)greeting;",
     "[any: the connection is lost]"),
    ("binder: hello is requested of an unknown connection", G,
     "(struct flow_unknown_peer){*id, now};\n    return 1;",
     "(struct flow_unknown_peer){*id, now};\n    return 0;",
     "[unknown: anything else]"),
    ("binder: a peer on another connection leaves the old one", G,
     "    if (old)\n        drop_peer(table, old);",
     "    (void)old;",
     "a name that is known, on another connection"),
    ("binder: a silent peer leaves", G,
     "store_silent(table, &peer->id);\n            drop_peer(table, peer);",
     "store_silent(table, &peer->id);",
     "[known: nothing for 3 seconds]"),
    ("client: an answer to another id is dropped", A,
     "if (id != request->id || !request->waits)",
     "if (id < 0 || !request->waits)",
     "[any: another id] it is dropped"),
    ("client: an error about a message is no answer", E,
     "if (*error->of.kind)\n        return FLOW_ABOUT_MESSAGE;",
     "",
     "[any: error with kind]"),
    ("client: a request without an answer is sent again", A,
     "return now >= due;",
     "return 0;",
     "[any: no answer in time]"),
    ("client: another service gets the state", K,
     "copy->ready &= !strcmp(copy->service, name);",
     "",
     "[any: greeted by another service]"),
    ("client: and one that has not received it", K,
     "return !copy->ready;",
     "return 0;",
     "[any: greeted by another service]"),
    ("client: and one with a step that we lack", K,
     "flow_state_copy_mark_stale(struct flow_state_copy *copy)\n{\n"
     "    copy->ready = 0;",
     "flow_state_copy_mark_stale(struct flow_state_copy *copy)\n{\n"
     "    (void)copy;",
     "[READY: a step was not applied]"),
    ("client: and one that wants it", K,
     "(was && what != FLOW_NO_STATE)",
     "was",
     "[READY: error with id and need_state]"),
    ("client: it sends the request again after the state", K,
     "return what == FLOW_ANSWERED && !was;",
     "return 0;",
     "[STATE: ok with the id]"),
    ("service: the state belongs to a connected peer", K,
     "    if (owner)\n        return err_set(",
     "    if (0)\n        return err_set(",
     "[another peer, the owner is connected]"),
    ("service: an older session does not take it over", K,
     "if (session < state->next.session)",
     "if (0)",
     "[another peer, with an older session]"),
    ("service: but a trainer at its first step needs none", K,
     "state->next.session != at->session;\n}",
     "0;\n}",
     "[another session begins, the owner is gone]"),
    ("service: also after a newer, false session", K,
     "state->next.session != at->session;\n}",
     "state->next.session < at->session;\n}",
     "an older session is a new run"),
    ("service: another session needs a state", K,
     "at->session == state->next.session &&\n           wire_place",
     "wire_place",
     "it wants one for another session"),
    ("service: so does an earlier place", K,
     "wire_place_cmp(at, &state->next) >= 0",
     "1",
     "it wants one for a place before"),
    ("service: it is after the weighed step", K,
     "state->next.step = at->step + 1;",
     "state->next.step = at->step;",
     "[weights.get] it is after the step"),
    ("service: rows continue those received", K,
     "if (state->arrival.at.session ==",
     "if (1 || state->arrival.at.session ==",
     "[state.put that does not follow]"),
    ("service: an earlier request is late", A,
     "last->id > id",
     "0",
     "[an id below that]"),
    ("service: a request is answered once", A,
     "last->id == id",
     "0",
     "[the id that was answered last]"),
]


def compile_without(row, text, folder):
    """A copy of the source without the rule, in the folder: rule.o."""
    _, path, old, new, _ = row
    source = os.path.join(folder, "rule.c")
    with open(source, "w") as f:
        f.write(text.replace(old, new))
    subprocess.run([
        *CC, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O1", "-w", "-Iinclude",
        "-Ilib", "-I" + os.path.dirname(path), "-c", source,
        "-o", os.path.join(folder, "rule.o")], check=True)


def without(program, folder):
    """That test, linked with rule.o."""
    to = os.path.join(folder, os.path.basename(program))
    subprocess.run([
        *CC, os.path.join(folder, "rule.o"), f"{OUT}/tests/{program}.o",
        f"{OUT}/libfoil.a", *libs, "-fopenmp", "-lm", "-o", to], check=True)
    return to


def run(*command):
    """The output of a program; "" when it does not end in a minute."""
    try:
        return subprocess.run(command, capture_output=True, text=True,
                              errors="replace", timeout=60).stdout
    except subprocess.TimeoutExpired:
        return ""


def is_unseen(program):
    """'' when one of 500, or else 20,000, schedules fails."""
    for n in "500", "20000":
        output = run(program, n, "0")
        if f"ok 1 - {n} of" not in output or "not ok" in output:
            return ""
    return f"all of {n} schedules pass without it"


def judge(row, text, folder, quick):
    """'' or the error."""
    compile_without(row, text, folder)
    output = "".join(run(without(test, folder))
                     for test in TESTS[row[1]])
    if not re.search(r"^not ok \d+ - (\[[^]]*\] )?" + re.escape(row[4]), output,
                     re.M):
        return f"'{row[4]}' passes without it"
    if quick or row[0] in UNSEEN:
        return ""
    unseen = ""
    for simulation in SIMULATIONS.get(row[1], ("flow/test_simulation",)):
        unseen = is_unseen(without(simulation, folder))
        if not unseen:
            break
    return unseen


def misfits(row):
    """Whether the row does not fit the sources, which is printed."""
    with open(row[1]) as f:
        n = f.read().count(row[2])
    if n != 1:
        print(f"rules.py: {n} places in {row[1]} for '{row[0]}'")
    return n != 1


def try_row(row, quick):
    """Prints the result of a row; returns whether it is an error."""
    with open(row[1]) as f:
        text = f.read()
    with tempfile.TemporaryDirectory() as folder:
        wrong = judge(row, text, folder, quick)
    print(f"{row[0]}: {wrong or 'matters'}\n", end="", flush=True)
    return wrong != ""


def main(quick, names):
    bad = [row for row in RULES if misfits(row)]
    rows = [row for k, row in enumerate(RULES)
            if row not in bad and not (quick and k % 8)
            and (not names or any(name in row[0] for name in names))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        unseen = sum(pool.map(lambda row: try_row(row, quick), rows)) + len(bad)
    print(f"{len(rows)} of {len(RULES)} rules switched off, {unseen} not noticed")
    return unseen > 0


libs = subprocess.run(["scripts/libraries", "libs"], capture_output=True,
                      text=True, check=True).stdout.split()
sys.exit(main("--quick" in sys.argv,
              [arg for arg in sys.argv[1:] if arg != "--quick"]))
