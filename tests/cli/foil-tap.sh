#!/usr/bin/env bash
# foil-tap for its users, with stages in Python as peers: each side reads messages of
# the other.
# Mostly waits, 20 s
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
# shellcheck source=tests/runs.sh
. "$(dirname "$0")/../runs.sh"

tap=$BIN/foil-tap
common foil-tap show x

# in the background, a listener that gets no events
mkdir "$work/quiet"
"$tap" events -r "$work/quiet" >/dev/null 2>"$work/silence" &
listener=$!

ok 'foil-tap without a verb exits with 2 and lists the verbs' refuses 2 \
    '^  replay FILE \[ENDPOINT\] *play' "$tap"
ok 'events without a source exits with 2' refuses 2 'where are the events' "$tap" events
ok 'proxy with one endpoint exits with 2' exits 2 "$tap" proxy ipc://x
ok 'show of a missing recording exits with 1' \
    refuses 1 'cannot open' "$tap" show "$work/none"
echo nonsense >"$work/bad"
ok 'show of another file exits with 1' \
    refuses 1 'is not a recording' "$tap" show "$work/bad"
ok 'proxy on all interfaces without keys exits with 1' \
    refuses 1 'want keys' "$tap" proxy 'tcp://*:*' ipc://x
ok 'events of an invalid address exits with 1' \
    refuses 1 'bad endpoint' "$tap" events nowhere

ok 'keys makes a pair of keys' "$tap" --role augment keys "$work/keys" aug
ok 'the secret file has a secret key' grep -q 'secret-key = "' "$work/keys/aug.key_secret"
ok 'the public file has no secret key' bash -c "! grep secret-key '$work/keys/aug.key'"
ok 'keys of an existing name exits with 1' \
    refuses 1 'cannot make' "$tap" keys "$work/keys" aug

"$tap" proxy "ipc://$work/here" "ipc://$work/there" &
ok 'proxy waits for connections' becomes_true test -S "$work/here"
kill -TERM $!
ok 'proxy exits with 0 after SIGTERM' wait $!

if ! has_python zmq msgpack; then
    skip 'foil-tap with stages in Python' 'no python3-zmq, python3-msgpack'
    done_testing
    exit
fi
warm zmq zmq.auth msgpack

# A recording, written according to its man page.
cat >"$work/stage.py" <<'EOF'
import msgpack, struct, sys, zmq, zmq.auth

DIGEST = "0123456789abcdef0123456789abcdef"
hello = lambda stage: {"stage": stage, "version": 3, "run": "",
                       "peer": stage, "recipe": "stage.py",
                       "dataset": {"digest": DIGEST, "size": 10}}
place = lambda session, step: {"session": session, "epoch": 0, "step": step}
pack = lambda kind, head, *t: [b"foil3." + kind, msgpack.packb(head), *t]
ids = struct.pack("<4q", 1, 2, 3, 4)

def wants(session, serial, step):
    return pack(b"want", dict(place(session, step), serial=serial, window=2))

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

context = zmq.Context()             # destroyed below; Python would not wait for it

def trainer(endpoint):              # binds, as foil-train does
    sock = context.socket(zmq.ROUTER)
    sock.bind(endpoint)
    got = []
    while True:
        peer, kind, head, *t = sock.recv_multipart()
        h = msgpack.unpackb(head)
        if kind == b"foil3.hello":
            assert h["dataset"]["digest"] == DIGEST and h["version"] == 3
            sock.send_multipart([peer] + pack(b"hello", hello("train")))
            sock.send_multipart([peer] + wants(8, 1, 0))
        elif kind == b"foil3.batch":
            assert t[0] == ids and h["session"] == 8
            got.append((h["step"], t[1][0], len(t[1])))
            sock.send_multipart([peer] + wants(8, 1 + len(got), len(got)))
        elif kind == b"foil3.end":
            assert h["step"] == 3
            sock.send_multipart([peer] + pack(b"end", dict(place(8, 3), over=True)))
            break
    print(got)

def augmenter(endpoint):            # connects, as foil-augment does
    sock = context.socket(zmq.DEALER)
    sock.connect(endpoint)
    sock.send_multipart(pack(b"hello", hello("augment")))
    kind, head = sock.recv_multipart()
    assert kind == b"foil3.hello" and msgpack.unpackb(head)["stage"] == "select"
    sock.send_multipart(wants(9, 1, 0))
    got = []
    while kind != b"foil3.end":
        kind, head, *t = sock.recv_multipart()
        h = msgpack.unpackb(head)
        if kind == b"foil3.item":
            assert t[0] == ids and h["session"] == 9
            got.append(h["step"])
            sock.send_multipart(wants(9, 1 + len(got), len(got)))
    sock.send_multipart(pack(b"end", dict(place(9, 3), over=True)))
    print(got)

def publisher(endpoint):
    sock = context.socket(zmq.XPUB)
    sock.bind(endpoint)
    while b"metrics" not in sock.recv():
        pass                        # subscriptions to other kinds may come first
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

ok 'pyzmq reads keys of foil-tap' "$python" "$work/stage.py" key \
    "$work/keys/aug.key_secret"
ok 'Python writes recordings' \
    "$python" "$work/stage.py" record "$work/batches" "$work/items" \
    "$work/captions"
ok 'show prints a recording' "$tap" show "$work/batches"
ok 'show prints JSON that jq reads' \
    bash -c "jq -r '.kind, .header.step' <'$work/out' | paste -sd' ' |
        grep -x 'hello null batch 1 batch 0 batch 2'"
ok 'show prints tensors by their digest' grep -q '"shape":\[2,4,2,2,3\],"digest":"' \
    <("$tap" show "$work/batches")
ok 'show -f prints tensors in full' \
    grep -q '"data":\[1,2,3,4\]' <("$tap" -f show "$work/batches")
printf '%s\n' '[UNK]' '[CLS]' '[SEP]' a cat '##s' >"$work/words.txt"
ok 'show --vocabulary prints tokens as text' grep -qF \
    '"digest":"' <("$tap" -n 2 --vocabulary "$work/words.txt" show \
    "$work/captions" | grep -F '"text":["a cat","cats","",null]')
ok 'show --vocabulary with an invalid file exits with 1' refuses 1 "'$work/bad'" \
    "$tap" --vocabulary "$work/bad" show "$work/captions"
ok '-k and -n select one message of one kind' bash -c \
    "'$tap' -k batch -n 1 show '$work/batches' | wc -l | grep -x 1"
ok 'show -w writes the same recording' bash -c "
    '$tap' -q -w '$work/again' show '$work/batches' &&
    tail -c +25 '$work/again' | cmp - <(tail -c +25 '$work/batches')"
ok 'show of a truncated recording exits with 1' exits 1 bash -c "
    head -c 500 '$work/batches' >'$work/cut'; '$tap' -q show '$work/cut'"

"$python" "$work/stage.py" trainer "ipc://$work/batch" >"$work/got" 2>&1 &
trainer=$!
ok 'replay sends batches to a trainer in Python' \
    "$tap" -r "$work" replay "$work/batches"
ok 'the trainer in Python accepts the batches' wait "$trainer"
ok 'the trainer in Python gets each batch in order' \
    grep -qxF '[(0, 0, 96), (1, 1, 96), (2, 2, 96)]' "$work/got"

"$tap" -r "$work" replay "$work/items" &
select=$!
ok 'replay sends items to an augmenter in Python' \
    "$python" "$work/stage.py" augmenter "ipc://$work/plan"
ok 'the augmenter in Python gets each item in order' grep -qxF '[0, 1, 2]' "$work/out"
ok 'replay ends with the run' wait "$select"

"$tap" -r "$work" replay "$work/items" &
select=$!
"$tap" -w "$work/tapped" proxy "ipc://$work/tap" "ipc://$work/plan" \
    >"$work/lines" &
proxy=$!
ok 'an augmenter in Python gets items through a proxy' \
    "$python" "$work/stage.py" augmenter "ipc://$work/tap"
ok 'the proxy passes on each item in order' grep -qxF '[0, 1, 2]' "$work/out"
ok 'replay through a proxy ends with the run' wait "$select"
kill "$proxy"
ok 'the proxy exits with 0' wait "$proxy"
ok 'the proxy prints all messages' bash -c "jq -r .kind <'$work/lines' | sort | uniq -c |
    tr -s ' ' | paste -sd, |
    grep -E ' end,.* hello, 3 item, 4 want'"
ok 'the proxy records all messages' bash -c \
    "'$tap' -k item show '$work/tapped' | jq .header.step | paste -sd' ' |
        grep -x '0 1 2'"

"$python" "$work/stage.py" publisher "ipc://$work/events" &
ok 'events prints events of a publisher in Python' timeout "$patience" bash -c \
    "'$tap' -r '$work' -k metrics -n 3 events >'$work/lines' 2>'$work/err'"
ok 'events prints the values of the metrics' \
    bash -c "jq -c .header.values.loss <'$work/lines' |
    paste -sd' ' | grep -x '4.5 3.5 0.5'"
ok 'events reports lost messages' grep -q 'messages lost on the way here: 2' "$work/err"

# events ends with the run; with --follow it continues with the next run
listens() (
    set -o pipefail
    timeout "$patience" "$tap" -r "$work/run" "$@" events |
        jq -r 'select(.header.what == "stop").header.reason' | paste -sd' '
)
trains() {
    "$BIN/foil-train" -r "$work/run" --arch linear --deadline 1 \
        >/dev/null 2>&1
}
mkdir -m 700 "$work/run"
listens -k event >"$work/one" &
one=$!
listens -k event --follow -n 2 >"$work/two" &
two=$!
listens -k metrics >"$work/none" & # gets no event but the last one
none=$!
while kill -0 "$one" || kill -0 "$none"; do trains; done 2>/dev/null
ok 'events ends with the run' wait "$one"
ok 'events prints the last event of a run' grep -c '^no batch for epoch 0' "$work/one"
ok 'events -k metrics ends with the run' wait "$none"
ok 'events -k metrics prints no other events' exits 1 grep . "$work/none"
while kill -0 "$two" 2>/dev/null; do trains; done
ok 'events --follow prints two runs' \
    grep -qE '^no batch for .* no batch for ' "$work/two"

ok 'a recording on a full disk exits with 1' refuses 1 \
    "cannot write '/dev/full': No space left on device" \
    "$tap" -q -w /dev/full show "$work/batches"
ok 'events reports that it receives nothing' waits_for "$work/silence"
ok 'events names the endpoint from which nothing comes' \
    grep -qx "foil-tap: no message from \
'ipc://$work/quiet/events' in 10 seconds: does a trainer run there?" "$work/silence"
kill "$listener"
done_testing
