#!/usr/bin/env bash
# A trainer in the midst of a step over tcp with CURVE keys: an augmenter, a tap,
# foil top and a selector join it all the same, and a key of another role does not.
# The step takes a minute of processor time, and is never waited for: that it goes
# on is seen by the metrics, which have no line yet.
# Not for sanitizers: its stages and keys are in others.
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

# keys ROLE : in $keys
keys() {
    keys=(--keys "$work/$1.key_secret" --allow "$work/keys")
}

# augment NAME : another augmenter, in the background
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

# within_step : the trainer has its first batch, and no step is done
within_step() {
    grep -qs 'of .* parameters' "$work/train.err" &&
        test ! -s "$work/run/metrics.jsonl"
}
ok 'a step begins' becomes_true within_step

keys tap
"$BIN/foil-tap" "${keys[@]}" -k status events "$events" >"$work/tap.out" \
    2>"$work/tap.err" &
tap=$!
augment second &
second=$!
"$BIN/foil-augment" -r "$work/run" "${keys[@]}" --batches "$batch" "$data" \
    2>"$work/wrong.err" &
wrong=$!

# two_augmenters : the tap has heard of both
two_augmenters() {
    jq -es 'map(.header | select(.stage == "augment").number) | unique
        | length >= 2' "$work/tap.out"
}
ok 'a tap joins, and hears of another augmenter that has joined' \
    becomes_true two_augmenters
ok 'within one step' within_step
ok 'a key of role tap has no use there, and its holder ends' exits 1 wait "$wrong"
ok 'as it is told' grep -q "role 'tap' may not send hello on edge batch" \
    "$work/wrong.err"
ok 'all of that within one step' within_step
kill_now "$trainer"
kill "$first" "$second" "$selector" "$tap"
wait
done_testing
