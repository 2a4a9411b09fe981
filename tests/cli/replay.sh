#!/usr/bin/env bash
# Batches that were recorded from a run and are replayed to a second trainer give the
# same checkpoint, bit for bit.
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

ok 'a run through foil-tap proxy succeeds' wait "$trainer"
wait "$augmenter" # it gets the end of the run through the tap
kill "$tap" 2>/dev/null
wait
ok 'foil-tap records the run' test -s "$work/views.rec"
ok 'foil-tap shows the recording' "$BIN/foil-tap" -k batch show "$work/views.rec"
ok 'the recording has a line of JSON for each batch' \
    jq -se 'map(select(.kind | test("batch"))) | length == 96' "$work/out"

"$BIN/foil-tap" -r "$work/second" replay "$work/views.rec" 2>"$run/replayed" &
ok 'a second trainer trains from the recording' \
    "${train[@]}" -r "$work/second"
wait
for part in model head optim samples; do
    ok "the second trainer has the same $part" \
        cmp "$run/latest/$part.safetensors" "$work/second/latest/$part.safetensors"
done
done_testing
