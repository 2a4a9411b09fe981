#!/usr/bin/env bash
# foil-tap as a user meets it, with stages in Python on the other end of the
# wire: what they pack we read, and the other way round.
# Mostly waits, 20 s
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/runs.sh
. "$(dirname "$0")/../runs.sh"

tap=$BIN/foil-tap
common foil-tap show x

# meanwhile, one that hears nothing
mkdir "$work/quiet"
"$tap" events -r "$work/quiet" >/dev/null 2>"$work/silence" &
listener=$!

ok 'no verb: 2, and which there are' refuses 2 \
    '^  replay FILE \[ENDPOINT\] *play' "$tap"
ok 'events from nowhere: 2' refuses 2 'where are the events' "$tap" events
ok 'proxy with one end: 2' exits 2 "$tap" proxy ipc://x
ok 'no such recording: 1' refuses 1 'cannot open' "$tap" show "$work/none"
echo nonsense >"$work/bad"
ok 'no recording: 1' refuses 1 'is not a recording' "$tap" show "$work/bad"
ok 'an endpoint that others reach, no keys: 1' \
    refuses 1 'want keys' "$tap" proxy 'tcp://*:*' ipc://x
ok 'no such address: 1' refuses 1 'bad endpoint' "$tap" events nowhere

ok 'keys are made' "$tap" --role augment keys "$work/keys" aug
ok 'with a secret' grep -q 'secret-key = "' "$work/keys/aug.key_secret"
ok 'the public file has none' bash -c "! grep secret-key '$work/keys/aug.key'"
ok 'not twice: 1' refuses 1 'cannot make' "$tap" keys "$work/keys" aug

"$tap" proxy "ipc://$work/here" "ipc://$work/there" &
ok 'a proxy waits for who comes' becomes_true test -S "$work/here"
kill -TERM $!
ok 'SIGTERM ends it, with 0' wait $!

if ! has_python zmq msgpack; then
    skip 'stages in Python' 'no python3-zmq, python3-msgpack'
    done_testing
    exit
fi
warm zmq zmq.auth msgpack

# A recording, written by what its man page says.
cat >"$work/stage.py" <<'EOF'
import msgpack, struct, sys, zmq, zmq.auth

DIGEST = "0123456789abcdef0123456789abcdef"
hello = lambda stage: {"stage": stage, "version": 2, "run": "",
                       "peer": stage, "recipe": "stage.py",
                       "dataset": {"digest": DIGEST, "size": 10}}
place = lambda session, step: {"session": session, "epoch": 0, "step": step}
pack = lambda kind, head, *t: [b"foil2." + kind, msgpack.packb(head), *t]
ids = struct.pack("<4q", 1, 2, 3, 4)

def wants(session, serial, step):
    return pack(b"next", dict(place(session, step), serial=serial, window=2))

def batch(session, step):
    head = dict(place(session, step), steps=3, epochs=1, height=2, width=2,
                channels=3, rejected=0, tensors=[["ids", "i8", [4]],
                ["views", "u1", [2, 4, 2, 2, 3]]])
    return pack(b"batch", head, ids, bytes([step]) * 96)

def captions(session, step):            # "a cat" and so on, by words.txt below
    rows = [1, 3, 4, 2, 0, 1, 4, 5, 2, 0, 1, 2, 0, 0, 0, 1, 9, 2, 0, 0]
    head = dict(place(session, step), steps=3, epochs=1, height=2, width=2,
                channels=3, rejected=0, texts=1, vocabulary=10, tensors=[
                ["ids", "i8", [4]], ["views", "u1", [1, 4, 2, 2, 3]],
                ["tokens", "i4", [4, 5]], ["lengths", "i4", [4]],
                ["captions", "i4", [4]]])
    return pack(b"batch", head, ids, bytes(48), struct.pack("<20i", *rows),
                struct.pack("<4i", 4, 4, 2, 3), bytes(16))

def item(session, step):
    head = dict(place(session, step), run="", size=10, steps=3, epochs=1,
                tensors=[["ids", "i8", [4]]])
    return pack(b"item", head, ids)

def record(path, stage, make):
    with open(path, "wb") as f:
        f.write(b"FOILREC1")
        for m in [pack(b"hello", hello(stage))] + [make(7, s) for s in (1, 0, 2)]:
            f.write(struct.pack("<QII", 99, 1, len(m)))
            for part in m:
                f.write(struct.pack("<Q", len(part)) + part)

context = zmq.Context()             # ended below: Python exits without a wait

def trainer(endpoint):              # binds, as foil-train does
    sock = context.socket(zmq.ROUTER)
    sock.bind(endpoint)
    got = []
    while True:
        peer, kind, head, *t = sock.recv_multipart()
        h = msgpack.unpackb(head)
        if kind == b"foil2.hello":
            assert h["dataset"]["digest"] == DIGEST and h["version"] == 2
            sock.send_multipart([peer] + pack(b"hello", hello("train")))
            sock.send_multipart([peer] + wants(8, 1, 0))
        elif kind == b"foil2.batch":
            assert t[0] == ids and h["session"] == 8
            got.append((h["step"], t[1][0], len(t[1])))
            sock.send_multipart([peer] + wants(8, 1 + len(got), len(got)))
        elif kind == b"foil2.end":
            assert h["step"] == 3
            sock.send_multipart([peer] + pack(b"end", dict(place(8, 3), over=True)))
            break
    print(got)

def augmenter(endpoint, want=ids):  # connects, as foil-augment does
    sock = context.socket(zmq.DEALER)
    sock.connect(endpoint)
    sock.send_multipart(pack(b"hello", hello("augment")))
    kind, head = sock.recv_multipart()
    assert kind == b"foil2.hello" and msgpack.unpackb(head)["stage"] == "select"
    sock.send_multipart(wants(9, 1, 0))
    got = []
    while kind != b"foil2.end":
        kind, head, *t = sock.recv_multipart()
        h = msgpack.unpackb(head)
        if kind == b"foil2.item":
            assert want in (t[0], "any") and h["session"] == 9
            got.append(h["step"])
            sock.send_multipart(wants(9, 1 + len(got), len(got)))
    sock.send_multipart(pack(b"end", dict(place(9, 3), over=True)))
    print(got)

def publisher(endpoint):
    sock = context.socket(zmq.XPUB)
    sock.bind(endpoint)
    while b"metrics" not in sock.recv():
        pass                        # somebody subscribes to other kinds first
    for n in (0, 1, 4):
        sock.send_multipart(pack(b"metrics", {"sequence": n, "stage": "train",
                            "step": n, "values": {"loss": 4.5 - n}}))

what, *args = sys.argv[1:]
if what == "record":
    record(args[0], "augment", batch)
    record(args[1], "select", item)
    record(args[2], "augment", captions)
elif what == "key":
    public, secret = zmq.auth.load_certificate(args[0])
    assert len(public) == 40 and len(secret) == 40
else:
    {"trainer": trainer, "augmenter": augmenter, "publisher": publisher}[what](*args)
context.destroy(linger=2000)
EOF

ok 'pyzmq reads our keys' "$python" "$work/stage.py" key \
    "$work/keys/aug.key_secret"
ok 'Python writes two recordings' \
    "$python" "$work/stage.py" record "$work/batches" "$work/items" \
    "$work/captions"
ok 'show prints one' "$tap" show "$work/batches"
ok 'as JSON that jq reads' \
    bash -c "jq -r '.kind, .header.step' <'$work/out' | paste -sd' ' |
        grep -x 'hello null batch 1 batch 0 batch 2'"
ok 'tensors by their digest' grep -q '"shape":\[2,4,2,2,3\],"digest":"' \
    <("$tap" show "$work/batches")
ok 'or in full' grep -q '"data":\[1,2,3,4\]' <("$tap" -f show "$work/batches")
printf '%s\n' '[UNK]' '[CLS]' '[SEP]' a cat '##s' >"$work/words.txt"
ok 'tokens as text, by a vocabulary' grep -qF \
    '"digest":"' <("$tap" -n 2 --vocabulary "$work/words.txt" show \
    "$work/captions" | grep -F '"text":["a cat","cats","",null]')
ok 'a vocabulary that is none: 1' refuses 1 "'$work/bad'" \
    "$tap" --vocabulary "$work/bad" show "$work/captions"
ok 'one kind, one message' bash -c \
    "'$tap' -k batch -n 1 show '$work/batches' | wc -l | grep -x 1"
ok 'recorded anew, it is the same' bash -c "
    '$tap' -q -w '$work/again' show '$work/batches' &&
    tail -c +25 '$work/again' | cmp - <(tail -c +25 '$work/batches')"
ok 'cut off: 1' exits 1 bash -c "
    head -c 500 '$work/batches' >'$work/cut'; '$tap' -q show '$work/cut'"

"$python" "$work/stage.py" trainer "ipc://$work/batch" >"$work/got" 2>&1 &
trainer=$!
ok 'replayed as an augmenter, into a trainer in Python' \
    "$tap" -r "$work" replay "$work/batches"
ok 'which is content' wait "$trainer"
ok 'with each batch, in order' \
    grep -qxF '[(0, 0, 96), (1, 1, 96), (2, 2, 96)]' "$work/got"

"$tap" -r "$work" replay "$work/items" &
select=$!
ok 'replayed as the selector, to an augmenter in Python' \
    "$python" "$work/stage.py" augmenter "ipc://$work/plan"
ok 'each item, in order' grep -qxF '[0, 1, 2]' "$work/out"
ok 'it ends with the run' wait "$select"

"$tap" -r "$work" replay "$work/items" &
select=$!
"$tap" -w "$work/tapped" proxy "ipc://$work/tap" "ipc://$work/plan" \
    >"$work/lines" &
proxy=$!
ok 'the same through a proxy' \
    "$python" "$work/stage.py" augmenter "ipc://$work/tap"
ok 'each item, in order' grep -qxF '[0, 1, 2]' "$work/out"
ok 'the selector ends' wait "$select"
kill "$proxy"
ok 'so does the proxy' wait "$proxy"
ok 'which saw it all' bash -c "jq -r .kind <'$work/lines' | sort | uniq -c |
    tr -s ' ' | paste -sd, |
    grep -E ' end,.* hello, 3 item, 4 next'"
ok 'and wrote it down' bash -c \
    "'$tap' -k item show '$work/tapped' | jq .header.step | paste -sd' ' |
        grep -x '0 1 2'"

page=${0%/*}/../../tools/foil-wire.5
mandoc -T ascii "$page" | col -bx | sed -n '/^ *import msg/,/^ *context.des/p' |
    sed 's/^     //' >"$work/select.py"
timeout "$patience" "$python" "$work/select.py" "ipc://$work/shuffle" &
select=$!
ok 'the selector in foil-wire(5), as it stands there' \
    "$python" "$work/stage.py" augmenter "ipc://$work/shuffle" any
ok 'plans two epochs of two steps' grep -qxF '[0, 1, 0, 1]' "$work/out"
ok 'ends with the run' wait "$select"

"$python" "$work/stage.py" publisher "ipc://$work/events" &
ok 'events of a publisher in Python' timeout "$patience" bash -c \
    "'$tap' -r '$work' -k metrics -n 3 events >'$work/lines' 2>'$work/err'"
ok 'with their numbers' bash -c "jq -c .header.values.loss <'$work/lines' |
    paste -sd' ' | grep -x '4.5 3.5 0.5'"
ok 'a gap is noticed' grep -q 'messages lost on the way here: 2' "$work/err"

# a listener ends with the run, and --follow hears the next one too
hears() (
    set -o pipefail
    timeout "$patience" "$tap" -r "$work/run" "$@" events |
        jq -r 'select(.header.what == "stop").header.reason' | paste -sd' '
)
trains() {
    "$BIN/foil-train" -r "$work/run" --arch linear --deadline 1 \
        >/dev/null 2>&1
}
mkdir -m 700 "$work/run"
hears -k event >"$work/one" &
one=$!
hears -k event --follow -n 2 >"$work/two" &
two=$!
hears -k metrics >"$work/none" & # which hears of no event but the last
none=$!
while kill -0 "$one" || kill -0 "$none"; do trains; done 2>/dev/null
ok 'it ends by itself' wait "$one"
ok 'after the last event of a run' grep -c '^no batch for epoch 0' "$work/one"
ok 'also where only metrics are printed' wait "$none"
ok 'no event is' exits 1 grep . "$work/none"
while kill -0 "$two" 2>/dev/null; do trains; done
ok 'one that follows hears two runs' \
    grep -qE '^no batch for .* no batch for ' "$work/two"

ok 'a recording on a full disk: 1' refuses 1 \
    "cannot write '/dev/full': No space left on device" \
    "$tap" -q -w /dev/full show "$work/batches"
ok 'where nothing comes from is said' waits_for "$work/silence"
ok 'by its name' grep -qx "foil-tap: no message from \
'ipc://$work/quiet/events' in 10 seconds: does a trainer run there?" "$work/silence"
kill "$listener"
done_testing
