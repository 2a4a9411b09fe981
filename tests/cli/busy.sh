#!/usr/bin/env bash
# A trainer is in a long step, over tcp with CURVE keys: an augmenter, a tap and a
# selector can connect, and a key of another role cannot.  The step takes a minute of
# processor time.  The test does not wait for it: it still runs while the metrics have
# no line.
# Not for sanitizers: other tests cover its stages and keys.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1

data=$work/data.tar
"$BIN/foil-data" generate --size 64 -o "$data" 512 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null
mkdir -m 700 "$work/run"
for role in select augment train tap; do
    "$BIN/foil-tap" --role "$role" keys "$work/keys" "$role" >/dev/null 2>&1
    mv "$work/keys/$role.key_secret" "$work"
done
batch=$(endpoint 0) events=$(endpoint 1) features=$(endpoint 2)

# keys ROLE : sets $keys
keys() {
    keys=(--keys "$work/$1.key_secret" --allow "$work/keys")
}

# augment NAME : one more augmenter
augment() {
    keys augment
    exec "$BIN/foil-augment" -r "$work/run" "${keys[@]}" --batches "$batch" \
        "$data" 2>"$work/$1.err"
}

keys train
"$BIN/foil-train" -r "$work/run" "${keys[@]}" --batches "$batch" \
    --events "$events" --features "$features" --keep-features 1 \
    --arch resnet18 --micro-batch 16 --threads 1 2>"$work/train.err" &
trainer=$!
augment first &
first=$!
"$BIN/foil-select" -r "$work/run" -b 512 -e 9 "$data" 2>"$work/select.err" &
selector=$!

# within_step : the trainer has its first batch, and has completed no step
within_step() {
    grep -qs 'of .* parameters' "$work/train.err" &&
        test ! -s "$work/run/metrics.jsonl"
}
ok 'the trainer begins a step' becomes_true within_step

keys tap
"$BIN/foil-tap" "${keys[@]}" -k status events "$events" >"$work/tap.out" \
    2>"$work/tap.err" &
tap=$!
augment second &
second=$!
"$BIN/foil-augment" -r "$work/run" "${keys[@]}" --batches "$batch" "$data" \
    2>"$work/wrong.err" &
wrong=$!

# two_augmenters : the tap received the status of both
two_augmenters() {
    jq -es 'map(.header | select(.stage == "augment").number) | unique
        | length >= 2' "$work/tap.out"
}
ok 'during a step, a tap connects and receives the status of a new augmenter' \
    becomes_true two_augmenters
ok 'both connect within one step' within_step
ok 'an augmenter with a key of role tap exits with 1' exits 1 wait "$wrong"
ok 'the augmenter reports the role of its key' \
    grep -q "role 'tap' may not send hello on edge batch" \
    "$work/wrong.err"
ok 'a wrong key is refused within one step' within_step
kill_now "$trainer"
kill "$first" "$second" "$selector" "$tap"
wait
done_testing
