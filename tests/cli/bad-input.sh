#!/usr/bin/env bash
# Invalid input from outside: each gives one error message and its exit code, and does
# not disturb a run.
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

# The frame header is FF C0, length, precision, height, width: set both to 65,500.
cp "$image" "$work/huge/cat/1.jpg"
at=$(LC_ALL=C grep -obUaP '\xff\xc0' "$image" | head -n 1 | cut -d: -f1)
printf '\xff\xdc\xff\xdc' |
    dd of="$work/huge/cat/1.jpg" bs=1 seek=$((at + 5)) conv=notrunc 2>/dev/null

index() {
    "$BIN/foil-data" index -o "$work/x.foil" "$@"
}

ok 'foil-data index of a missing data set exits with 1' \
    refuses 1 "cannot open '.*none'" index "$work/none"
ok 'foil-data index of an empty folder exits with 1' refuses 1 'empty' index "$work/empty"
ok 'foil-data index of an empty tar exits with 1' \
    refuses 1 'nothing.tar' index "$work/nothing.tar"
ok 'foil-data index of a truncated tar exits with 1' \
    refuses 1 'cut.tar' index "$work/cut.tar"
ok 'foil-data index of a file that is not a JPEG exits with 1' \
    refuses 1 'cat/1.jpg' index "$work/text"
ok 'foil-data index --decode of half a JPEG exits with 1' \
    refuses 1 'cat/1.jpg' index --decode "$work/cut"
ok 'foil-data index of a JPEG of 65,500 x 65,500 exits with 1' \
    refuses 1 '65500' index "$work/huge"
ok 'foil-data index writes no index after an error' test ! -e "$work/x.foil"

for tool in select augment; do
    ok "foil-$tool of a missing data set exits with 1" \
        refuses 1 "none" "$BIN/foil-$tool" -r "$work/r" "$work/none"
    ok "foil-$tool of a data set without an index exits with 1" \
        refuses 1 'foil-data index' "$BIN/foil-$tool" -r "$work/r" "$work/text"
done
ok 'foil-embed of a missing data set exits with 1' refuses 1 'none' \
    "$BIN/foil-embed" --raw -o "$work/x.npy" "$work/none"

cp "$data" "$work/moved.tar"
"$BIN/foil-data" index "$work/moved.tar" 2>/dev/null
head -c 100000 "$data" >"$work/moved.tar"
ok 'foil-select of a tar that was truncated after foil-data index exits with 1' \
    refuses 1 'moved.tar' \
    "$BIN/foil-select" -r "$work/r" "$work/moved.tar"

ok 'an unknown objective exits with 2' refuses 2 "no objective 'contrast'" \
    "$BIN/foil-train" -r "$work/r" --objective contrast
ok 'an unknown option of a pipeline exits with 2 and a suggestion' refuses 2 \
    "no option '--epoch': did you mean '--epochs'\?" \
    "$BIN/foil" run simclr "$data" --epoch 3
ok 'a pipeline of a missing data set exits with 1' refuses 1 'cannot open' \
    "$BIN/foil" run simclr "$work/none" -r "$work/p"

# ------------------------------------------------------------------ a run

# options of a short run
short=(--seed 5 --threads 1 --batch 8 --epochs 10 --augmenters 1
    --augment '--size 8' --train '--arch linear --head 32-16 --lr 0.1'
    --train '--warmup 0 --objective ,tau=0.5 --checkpoint-every 100 --deadline 20')

run() {
    timeout "$patience" "$BIN/foil" run simclr "${short[@]}" "$@"
}

ok 'an undisturbed run succeeds' run -r "$work/calm" "$data"

"$BIN/foil-data" generate -o "$work/other.tar" --size 16 --seed 2 512 \
    2>/dev/null
ok '--resume with another data set exits with 1' exits 1 run -r "$work/calm" \
    "$work/other.tar" --resume
ok '--resume with another data set names both' grep -q \
    'DATA is .*other.tar, but .*data.tar in this run' "$work/out"

# Version 3: a peer that connects to the trainer, and a selector.
cat >"$work/two.py" <<'END'
import sys, zmq, msgpack
bind, endpoint = sys.argv[1:]
s = zmq.Context().socket(zmq.ROUTER if bind == "bind" else zmq.DEALER)
s.linger = 0
hello = msgpack.packb({"stage": "augment", "version": 4, "run": "",
                       "peer": "two.py", "recipe": "two.py",
                       "dataset": {"digest": "0" * 32, "size": 512}})
if bind == "bind":
    s.bind(endpoint)
    who = s.recv_multipart()[0]
    s.send_multipart([who, b"foil3.hello", hello])
    s.poll(2000)
else:
    s.connect(endpoint)
    s.send_multipart([b"foil3.hello", hello])
    if not s.poll(10000):
        sys.exit("no answer")
    kind, head = s.recv_multipart()[:2]
    print(kind.decode(), msgpack.unpackb(head))
END
# noise.py ENDPOINT READY: sends invalid frames until it is killed; creates the file
# READY just before
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
kinds = [b"foil3." + k for k in (b"hello", b"want", b"item", b"batch",
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
    ok 'the trainer answers a peer of version 4' \
        "$python" "$work/two.py" connect "ipc://$work/v2/batch"
    ok 'the answer to a peer of version 4 names the version' \
        grep -q '^foil3.error.*version' "$work/out"
    ok 'the trainer reports a peer of version 4 on stderr' \
        becomes_true grep -q version "$work/v2/err"
    kill "$trainer"
    wait "$trainer"

    "$python" "$work/two.py" bind "ipc://$work/v2/plan" &
    ok 'foil-augment refuses a selector of version 4 with 1' \
        refuses 1 'version' timeout "$patience" \
        "$BIN/foil-augment" -r "$work/v2" --size 8 "$data"
    wait $!

    mkdir "$work/noisy"
    "$python" "$work/noise.py" "ipc://$work/noisy/plan" "$work/one" &
    one=$!
    "$python" "$work/noise.py" "ipc://$work/noisy/batch" "$work/two" &
    two=$!
    becomes_true test -e "$work/one" -a -e "$work/two"
    ok 'a run succeeds with invalid frames on both edges' run -r "$work/noisy" "$data"
    kill "$one" "$two"
    ok 'invalid frames on both edges do not change the bits' \
        cmp "$work"/{calm,noisy}/latest/model.safetensors
    ok 'foil-select reports the invalid frames' grep -qE 'refused|message|hello' \
        "$work/noisy/log/select.log"
else
    skip 'peers of version 3 and invalid frames' 'no python3-zmq, python3-msgpack'
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
    ok 'foil run reports a full disk' becomes_true grep -q \
        'no checkpoint at step .*No space left' "$work/full.err"
    before=$(readlink "$full/run/latest")
    ok 'on a full disk, lost lines of metrics are reported at most 20 times' test \
        "$(grep -c 'cannot write to metrics' "$work/full.err")" -le 20
    ok 'on a full disk, the last checkpoint remains' \
        test -e "$full/run/latest/MANIFEST.json"
    rm "$full/filler"
    moved_on() {
        [[ $(readlink "$full/run/latest") != "$before" ]]
    }
    ok 'after the disk has space again, the next checkpoint is written' \
        becomes_true moved_on
    kill "$pipeline"
    ok 'after the disk was full, SIGTERM ends the run with 143' exits 143 wait "$pipeline"
else
    skip 'a run on a full disk' 'cannot mount a tmpfs here'
fi
done_testing
