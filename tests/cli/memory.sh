#!/usr/bin/env bash
# The memory of a trainer is bounded in bytes: against six subscribers that do not read
# while 4 MiB are published in each step, and against sixteen peers that send partial
# messages before the first batch.
# Not for sanitizers: memory that sanitizers add to.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
python=/usr/bin/python3

# the sanitizer keeps freed memory
if grep -q __asan_init "$BIN/foil-train"; then
    most=1048576
else
    most=65536
fi

# memory : prints the KiB of the trainer
memory() {
    awk '$1 == "VmRSS:" { print $2 }' "/proc/$trainer/status"
}

# grew : the trainer has grown by less than $most KiB since it was calm
grew() {
    now=$(memory)
    echo "$now KiB, calm $calm" >>"$work/out"
    ((now - calm < most))
}

made() {
    (($(steps run) >= $1))
}

"$BIN/foil-data" generate --size 8 -o "$work/data.tar" 1024 2>/dev/null
"$BIN/foil-data" index "$work/data.tar" 2>/dev/null

# --------------------------------------------------------- stopped subscribers

mkdir -m 700 "$work/run"
"$BIN/foil-train" -r "$work/run" --arch linear --head 2048 --warmup 0 --lr 0.001 \
    --threads 1 --checkpoint-every 1000000 2>"$work/train.err" &
trainer=$!
"$BIN/foil-augment" -r "$work/run" --size 8 "$work/data.tar" 2>/dev/null &
augmenter=$!
"$BIN/foil-select" -r "$work/run" --batch 256 --epochs 1000000 \
    "$work/data.tar" 2>/dev/null &
selector=$!
becomes_true made 20 || tail -n 5 "$work/train.err"
calm=$(memory)
taps=()
for _ in 1 2 3 4 5 6; do
    "$BIN/foil-tap" -r "$work/run" -q events 2>/dev/null &
    taps+=($!)
    becomes_true made $(($(steps run) + 10))
    kill -STOP "${taps[-1]}"
done
ok 'the trainer continues with six subscribers that stopped' \
    becomes_true made $(($(steps run) + 100))
ok 'six stopped subscribers cost less than 64 MiB' grew
ok 'the trainer cuts off stopped subscribers and reports it' becomes_true \
    grep -q 'disconnected: it does not read' "$work/train.err"
: >"$work/tapped"
"$BIN/foil-tap" -r "$work/run" events >"$work/tapped" 2>/dev/null &
last=$!
ok 'a subscriber that reads gets features' becomes_true \
    grep -q '"kind":"features"' "$work/tapped"
kill -KILL "$last" "${taps[@]}"
kill "$trainer" "$augmenter" "$selector"
ok 'the trainer exits with 0 after SIGTERM' wait "$trainer"

# ------------------------------------------------- peers with partial messages

mkdir -m 700 "$work/first"
"$BIN/foil-train" -r "$work/first" --arch linear --head 16 --threads 1 \
    2>"$work/first.err" &
trainer=$!
becomes_true test -S "$work/first/batch"
if has_python msgpack; then
    ok 'sixteen peers send partial messages' timeout "$patience" "$python" \
        "${0%/*}/greedy.py" "$work/first/batch" "$trainer"
    ok 'partial messages before the first batch cost bounded memory' \
        holds "$(tail -n 1 "$work/out") < $most"
else
    skip 'sixteen peers send partial messages' 'no python3-msgpack'
fi
kill "$trainer"
wait
done_testing
