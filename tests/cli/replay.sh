#!/usr/bin/env bash
# Batches recorded from one run, replayed into a second trainer, give the same
# checkpoint to the bit.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1

data=$work/data.tar run=$work/run
"$BIN/foil-data" generate -o "$data" --size 16 256 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null
train=("$BIN/foil-train" --arch linear --head 32-16 --lr 0.1 --warmup 0
    --threads 1 --deadline 20)

mkdir -m 700 "$run"
"${train[@]}" -r "$run" 2>"$run/err" &
trainer=$!
"$BIN/foil-tap" -q -w "$work/views.rec" proxy \
    "ipc://$run/tap" "ipc://$run/batch" 2>>"$run/err" &
tap=$!
"$BIN/foil-augment" -r "$run" --batches "ipc://$run/tap" --size 8 "$data" \
    2>>"$run/err" &
augmenter=$!
"$BIN/foil-select" -r "$run" --batch 8 --epochs 3 "$data" 2>>"$run/err" &

ok 'a run through a tap' wait "$trainer"
wait "$augmenter" # it hears of the end through the tap
kill "$tap" 2>/dev/null
wait
ok 'is recorded' test -s "$work/views.rec"
ok 'and can be shown' "$BIN/foil-tap" -k batch show "$work/views.rec"
ok 'as a line of JSON for each of its batches' \
    jq -se 'map(select(.kind | test("batch"))) | length == 96' "$work/out"

"$BIN/foil-tap" -r "$work/second" replay "$work/views.rec" 2>"$run/replayed" &
ok 'a second trainer takes the recording for augmenters' \
    "${train[@]}" -r "$work/second"
wait
for part in model head optim samples; do
    ok "the same $part" \
        cmp "$run/latest/$part.safetensors" "$work/second/latest/$part.safetensors"
done
done_testing
