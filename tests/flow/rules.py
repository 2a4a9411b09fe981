#!/usr/bin/env python3
"""Switches one rule of the protocol off at a time, and says how many of N
schedules of the simulation fail then; a rule that makes no difference is not
seen by it.

usage: tests/flow/rules.py [N [NAME...]]     after make build/release/libfoil.a

A rule is switched off in a copy of its source, which is linked before the
library.  A table that does not fit the sources any more ends it with 1, and so
does a rule that is not seen.
"""
import os
import re
import subprocess
import sys
import tempfile

OUT = os.environ.get("OUT", "build/release")
CC = os.environ.get("CC", "gcc").split()
LIBS = subprocess.run(["scripts/libraries", "libs"], capture_output=True,
                      text=True, check=True).stdout.split()
P, T, R, C, W, G = [f"lib/{name}.c" for name in (
    "flow/producer", "flow/turn", "flow/relay", "flow/consumer", "flow/window",
    "wire/greeting")]

# rule, file, what stands there, what stands there without the rule
RULES = [
    ("producer: an older snapshot is passed over", P,
     "order > 0 || (order < 0 &&", "order != 0 || (order < 0 &&"),
    ("producer: what nobody says any more was not true", P,
     "now - p->said < FLOW_LAPSE", "1"),
    ("producer: and is replaced only after a second", P,
     "now - p->older >= insists", "1"),
    ("producer: what is had ends its lease", P,
     "i < trained || flow_window_has(&p->newest, &lease->at)", "i < trained"),
    ("producer: what is had no more is free again", P,
     "lease->state = FLOW_FREE;\n    }\n    flow_leases_forget", "(void)0;\n"
     "    }\n    flow_leases_forget"),
    ("producer: a delivery ends being late", P,
     "peer->late = peer->refused = 0;\n        peer->aside = 0;", ""),
    ("producer: another session forgives", P, "if (anew)\n        forgive(p);",
     ""),
    ("producer: leases of a peer that is gone are void", P,
     "const size_t taken = flow_book_void(p, peer);",
     "const size_t taken = 0;"),
    ("producer: who is late loses its leases", T,
     "p->came > lease->over + second_look", "0"),
    ("producer: not while the consumer computes", T,
     "p->came > lease->over + second_look", "1"),
    ("producer: nor by what comes all at once", T,
     "lease->over + second_look", "lease->since + p->seconds"),
    ("producer: who is late is set aside", T,
     "peer->aside = now + late->aside;", ""),
    ("producer: then gets one item at a time", T,
     "peer->late && !any ? 1 : peer->room", "peer->room"),
    ("producer: the highest", T, "if (peer->late && !any)", "if (0)"),
    ("producer: all late count as none", T, "any = all_late(p);", "any = 0;"),
    ("producer: who was late less often first", T,
     "worse = best && peer->late > best->late,", "worse = 0,"),
    ("producer: the most room first", T,
     "(n == most && peer->served < best->served)",
     "(peer->served < best->served)"),
    ("producer: of equal room the one served longest ago", T,
     "(n == most && peer->served < best->served)", "0"),
    ("producer: the lowest place first", T,
     "flow_leases_free(&p->leases, window, 0);",
     "flow_leases_free(&p->leases, window, 1);"),
    ("producer: only to who knows of the session", T,
     "peer->session == p->newest.at.session && peer->room", "peer->room"),
    ("producer: no more than room", T, "peer->out >= room ||", ""),
    ("producer: the end of the plan is said again", T,
     "now - peer->told >= repeated)", "now - peer->told >= 1e8)"),
    ("relay: an older snapshot is passed over", R,
     "if (flow_window_order(&r->newest, next) <= 0)\n        return 0;", ""),
    ("relay: the lowest is made first", R,
     "(!best || wire_place_cmp(&e->at, &best->at) < 0)", "!best"),
    ("relay: what was sent is made again after a new connection", R,
     "if (r->entry[i].state == SENT)\n            r->entry[i].state = WAITING;",
     "(void)r;"),
    ("relay: and where the producer hands it out again", R,
     "if (i < r->n && r->entry[i].state == SENT)\n"
     "        r->entry[i].state = WAITING;", ""),
    ("relay: what is sent counts on top of room", R,
     "r->room + count(r, SENT)", "r->room"),
    ("relay: no more than room batches are kept", R,
     "|| count(r, MADE) >= r->room", ""),
    ("relay: the newest is said to who does not know it", R,
     "r->told = 0;\n    r->spoke = -repeated;", ""),
    ("relay: the newest is said each second", R, "is_new ? 0 : repeated",
     "is_new ? 0 : 1e8"),
    ("relay: a new room is said at once", R,
     "!r->told || r->said != room(r)", "!r->told"),
    ("relay: an item that waits stays though it is had", R,
     "if (e->state == WAITING)\n        return is_past(r, &e->at);", ""),
    ("consumer: a new snapshot while it waits", C,
     "c->asked |= now - c->made >= repeated;", "(void)c; (void)now;"),
    ("consumer: the newest again each second", C,
     "now - peer->told < repeated)", "1)"),
    ("consumer: a new snapshot when the place changes", C,
     "c->asked |= c->taken || wire_place_cmp(at, &c->at);", "(void)c;"),
    ("consumer: and when what is held does", C,
     "(c->changed && now - c->since >= gathered)", "0"),
    ("consumer: also before a batch is trained", C, "c->asked |= was;",
     "(void)was;"),
    ("consumer: what is in training is had", C,
     "if (c->taken)\n        add(w, &c->at);", ""),
    ("consumer: the farthest is dropped for a nearer one", C,
     "if (i == c->n)\n            return item;", "return item;"),
    ("consumer: no more than the window is held", C,
     "c->n + (size_t)c->taken >= c->window", "0"),
    ("consumer: the serial rises", C, "++c->serial", "c->serial += !c->serial"),
    ("consumer: what is trained is not wanted", C,
     "wire_place_cmp(at, &c->at) >= c->taken &&", ""),
    ("consumer: nor what is of another session", C,
     "at->session == c->at.session &&\n", ""),
    ("consumer: an item disproves an end", C,
     "    disprove_ends(c, at);\n", "    (void)disprove_ends;\n"),
    ("consumer: all peers say end, not one", C, "all ? FLOW_ALL_ENDED",
     "some ? FLOW_ALL_ENDED"),
    ("greeting: hello again each second", G,
     "now - greeting->sent < patience", "1"),
    ("greeting: hello again when it is asked for", G,
     "if (greeting->state == WIRE_IN)\n        greeting->state = WIRE_OUT;",
     "(void)greeting;"),
    ("greeting: a lost connection is greeted again", G,
     "wire_greeting_lost(struct wire_greeting *greeting)\n{\n"
     "    greeting->state = WIRE_OUT;",
     "wire_greeting_lost(struct wire_greeting *greeting)\n{\n"
     "    (void)greeting;"),
]


def compile_with(folder, rule, name, path, old, new):
    with open(path) as f:
        text = f.read()
    if text.count(old) != 1:
        sys.exit(f"rules.py: {text.count(old)} places in {path} for '{name}'")
    source = os.path.join(folder, f"rule{rule}.c")
    with open(source, "w") as f:
        f.write(text.replace(old, new))
    program = source[:-2]
    subprocess.run([
        *CC, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-w", "-Iinclude",
        "-Itests", "-Ilib", "-I" + os.path.dirname(path), source,
        f"{OUT}/tests/flow/test_simulation.o", f"{OUT}/libfoil.a", *LIBS,
        "-fopenmp", "-lm", "-o", program], check=True)
    return program


def main():
    n = sys.argv[1] if len(sys.argv) > 1 else "10000"
    only = sys.argv[2:]
    unseen = []
    with tempfile.TemporaryDirectory() as folder:
        for k, (name, path, old, new) in enumerate(RULES):
            if only and not any(word in name for word in only):
                continue
            program = compile_with(folder, k, name, path, old, new)
            try:
                done = subprocess.run([program, n, "0"], capture_output=True,
                                      text=True, timeout=120)
                good = re.search(r"(\d+) of \d+ schedules", done.stdout)
                said = f"{int(n) - int(good.group(1)):6}" if good else " abort"
                why = re.search(r"^# seed.*: (.*)$", done.stdout, re.M)
                why = why.group(1) if why else done.stderr.strip()[-60:]
            except subprocess.TimeoutExpired:
                said, why = "  ends", "never"
            if said.strip() == "0":
                unseen.append(name)
            print(f"{said}  {name}  ({why})", flush=True)
    for name in unseen:
        print(f"not seen: {name}")
    return bool(unseen)


sys.exit(main())
