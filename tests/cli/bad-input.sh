#!/usr/bin/env bash
# What comes from outside and is wrong: each has its one sentence and exit
# code, and a run that is under way is not disturbed.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1

data=$work/data.tar
"$BIN/foil-data" generate -o "$data" --size 16 512 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# ------------------------------------------------------------- data sets

mkdir -p "$work/empty" "$work/text/cat" "$work/huge/cat" "$work/cut/cat"
tar -xf "$data" -C "$work" "$(tar -tf "$data" | grep -m1 'jpg$')"
image=$(find "$work" -name '*.jpg' | head -n 1)
echo 'no JPEG at all' >"$work/text/cat/1.jpg"
head -c 300 "$image" >"$work/cut/cat/1.jpg"
head -c 100000 "$data" >"$work/cut.tar"
: >"$work/nothing.tar"

# The frame header FF C0, length, precision, height, width: say 65,500 twice.
cp "$image" "$work/huge/cat/1.jpg"
at=$(LC_ALL=C grep -obUaP '\xff\xc0' "$image" | head -n 1 | cut -d: -f1)
printf '\xff\xdc\xff\xdc' |
    dd of="$work/huge/cat/1.jpg" bs=1 seek=$((at + 5)) conv=notrunc 2>/dev/null

index() {
    "$BIN/foil-data" index -o "$work/x.foil" "$@"
}

ok 'no such data set: 1' refuses 1 "cannot open '.*none'" index "$work/none"
ok 'an empty folder: 1' refuses 1 'empty' index "$work/empty"
ok 'an empty file: 1' refuses 1 'nothing.tar' index "$work/nothing.tar"
ok 'a truncated tar: 1' refuses 1 'cut.tar' index "$work/cut.tar"
ok 'not a JPEG: 1' refuses 1 'cat/1.jpg' index "$work/text"
ok 'half a JPEG: 1' refuses 1 'cat/1.jpg' index --decode "$work/cut"
ok 'a JPEG of 65,500 x 65,500: 1' refuses 1 '65500' index "$work/huge"
ok 'no index is left behind' test ! -e "$work/x.foil"

for tool in select augment; do
    ok "foil-$tool: no such data set: 1" \
        refuses 1 "none" "$BIN/foil-$tool" -r "$work/r" "$work/none"
    ok "foil-$tool: no index: 1" \
        refuses 1 'foil-data index' "$BIN/foil-$tool" -r "$work/r" "$work/text"
done
ok 'foil-embed: no such data set: 1' refuses 1 'none' \
    "$BIN/foil-embed" --raw -o "$work/x.npy" "$work/none"

cp "$data" "$work/moved.tar"
"$BIN/foil-data" index "$work/moved.tar" 2>/dev/null
head -c 100000 "$data" >"$work/moved.tar"
ok 'a tar that was cut after it was indexed: 1' refuses 1 'moved.tar' \
    "$BIN/foil-select" -r "$work/r" "$work/moved.tar"

ok 'unknown objective: 2' refuses 2 "no objective 'contrast'" \
    "$BIN/foil-train" -r "$work/r" --objective contrast
ok 'unknown pipeline option: 2' refuses 2 \
    "no option '--epoch': did you mean '--epochs'\?" \
    "$BIN/foil" run simclr "$data" --epoch 3
ok 'a pipeline over no data: 1' refuses 1 'cannot open' \
    "$BIN/foil" run simclr "$work/none" -r "$work/p"

# ------------------------------------------------------------------ a run

# The options of a short one.
short=(--seed 5 --threads 1 --batch 8 --epochs 10 --augmenters 1
    --augment '--size 8' --train '--arch linear --head 32-16 --lr 0.1'
    --train '--warmup 0 --objective ,tau=0.5 --checkpoint-every 100 --deadline 20')

run() {
    timeout "$patience" "$BIN/foil" run simclr "${short[@]}" "$@"
}

ok 'a run' run -r "$work/calm" "$data"

"$BIN/foil-data" generate -o "$work/other.tar" --size 16 --seed 2 512 \
    2>/dev/null
ok 'another data set on resume: 1' exits 1 run -r "$work/calm" \
    "$work/other.tar" --resume
ok 'and a sentence' grep -q \
    'DATA is .*other.tar, but .*data.tar in this run' "$work/out"

# Version 3: a peer that greets the trainer, and a selector that answers.
cat >"$work/two.py" <<'END'
import sys, zmq, msgpack
bind, endpoint = sys.argv[1:]
s = zmq.Context().socket(zmq.ROUTER if bind == "bind" else zmq.DEALER)
s.linger = 0
hello = msgpack.packb({"stage": "augment", "version": 3, "run": "",
                       "peer": "two.py", "recipe": "two.py",
                       "dataset": {"digest": "0" * 32, "size": 512}})
if bind == "bind":
    s.bind(endpoint)
    who = s.recv_multipart()[0]
    s.send_multipart([who, b"foil2.hello", hello])
    s.poll(2000)
else:
    s.connect(endpoint)
    s.send_multipart([b"foil2.hello", hello])
    if not s.poll(10000):
        sys.exit("no answer")
    kind, head = s.recv_multipart()[:2]
    print(kind.decode(), msgpack.unpackb(head))
END
# noise.py ENDPOINT READY: frames that are none, until it is ended; makes the
# file READY when it is about to begin
cat >"$work/noise.py" <<'END'
import random, sys, zmq, msgpack
s = zmq.Context().socket(zmq.DEALER)
s.linger, s.reconnect_ivl = 0, 10
s.connect(sys.argv[1])
open(sys.argv[2], "w").close()
r = random.Random(1)
junk = [b"", b"\xff" * 65537, b"\xdd\xff\xff\xff\xff", b"\x81" * 200,
        msgpack.packb({"session": -1}), msgpack.packb([1]),
        msgpack.packb({"session": 1 << 62, "epoch": 1e300, "step": None})]
kinds = [b"foil2." + k for k in (b"hello", b"next", b"item", b"batch",
                                 b"end", b"reject", b"nonsense")]
while True:
    parts = [r.choice(kinds + [b"foil1.hello", b"", b"GET / HTTP/1.1"])]
    parts += [r.choice(junk + [r.randbytes(40)]) for _ in range(r.randrange(4))]
    s.send_multipart(parts)
    s.poll(1)
    while s.poll(0):
        s.recv_multipart()
END

if has_python zmq msgpack; then
    warm zmq msgpack random
    mkdir "$work/v2"
    "$BIN/foil-train" -r "$work/v2" --deadline 20 2>"$work/v2/err" &
    trainer=$!
    ok 'a peer of version 3 is told' \
        "$python" "$work/two.py" connect "ipc://$work/v2/batch"
    ok 'why' grep -q '^foil2.error.*version' "$work/out"
    ok 'and the user, too' becomes_true grep -q version "$work/v2/err"
    kill "$trainer"
    wait "$trainer"

    "$python" "$work/two.py" bind "ipc://$work/v2/plan" &
    ok 'a selector of version 3: 1' refuses 1 'version' timeout "$patience" \
        "$BIN/foil-augment" -r "$work/v2" --size 8 "$data"
    wait $!

    mkdir "$work/noisy"
    "$python" "$work/noise.py" "ipc://$work/noisy/plan" "$work/one" &
    one=$!
    "$python" "$work/noise.py" "ipc://$work/noisy/batch" "$work/two" &
    two=$!
    becomes_true test -e "$work/one" -a -e "$work/two"
    ok 'noise on both edges: the run goes on' run -r "$work/noisy" "$data"
    kill "$one" "$two"
    ok 'noise on both edges: the run goes on, to the same bits' cmp "$work"/{calm,noisy}/latest/model.safetensors
    ok 'and that there was noise is said' grep -qE 'refused|message|hello' \
        "$work/noisy/log/select.log"
else
    skip 'version 2 and noise' 'no python3-zmq, python3-msgpack'
fi

# ------------------------------------------------------------- a full disk

full=$work/full
mkdir "$full"
if mount -t tmpfs -o size=12m none "$full" 2>/dev/null; then
    trap 'kill $(jobs -p) 2>/dev/null; wait; umount -l "$full"; rm -rf "$work"' EXIT
    "$BIN/foil" run simclr "${short[@]}" -r "$full/run" "$data" \
        --epochs 1000 2>"$work/full.err" &
    pipeline=$!
    becomes_true test -e "$full/run/latest"
    head -c 100000000 /dev/zero >"$full/filler" 2>/dev/null
    ok 'a full disk is said' becomes_true grep -q \
        'no checkpoint at step .*No space left' "$work/full.err"
    before=$(readlink "$full/run/latest")
    ok 'lost lines of metrics are said now and then' test \
        "$(grep -c 'cannot write to metrics' "$work/full.err")" -le 20
    ok 'the last checkpoint stays' \
        test -e "$full/run/latest/MANIFEST.json"
    rm "$full/filler"
    moved_on() {
        [[ $(readlink "$full/run/latest") != "$before" ]]
    }
    ok 'with room again the next one is saved' becomes_true moved_on
    kill "$pipeline"
    ok 'and the run ends well when asked to' exits 143 wait "$pipeline"
else
    skip 'a full disk' 'no tmpfs may be mounted here'
fi
done_testing
