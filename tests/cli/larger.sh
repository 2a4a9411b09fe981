#!/usr/bin/env bash
# An item that is larger than the first one of its run, and a batch that is a shard of
# its item: no stage ends, and the sender gets an error.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
python=/usr/bin/python3

if ! has_python zmq msgpack; then
    skip 'an item that is larger than the first one' 'no python3-zmq, python3-msgpack'
    done_testing
fi
"$BIN/foil-data" generate --size 8 -o "$work/data.tar" 128 2>/dev/null
"$BIN/foil-data" index "$work/data.tar" 2>/dev/null
mkdir -m 700 "$work/run"
"$BIN/foil-augment" -r "$work/run" "$work/data.tar" 2>"$work/augment.err" &
augmenter=$!
"$BIN/foil-train" -r "$work/run" --arch linear --head 8 --threads 1 --window 1 \
    2>"$work/train.err" &
trainer=$!
ok 'the selector gets an error for a larger item' timeout "$patience" "$python" \
    "${0%/*}/larger.py" "ipc://$work/run/plan"
ok 'the error has the place of the item and the reason' \
    grep -q '^item 0 3 .*a batch of 16 .* this run has up to 8' "$work/out"
ok 'the trainer reports a larger item' becomes_true \
    grep -q 'epoch 0, step 3: .*its first item has to be the largest' \
    "$work/train.err"
ok 'the augmenter continues after a larger item' kill -0 "$augmenter"
kill "$trainer" "$augmenter"
ok 'the trainer exits with 0 after a larger item' wait "$trainer"
ok 'the trainer trains the three steps before' test "$(steps run)" -eq 3

mkdir -m 700 "$work/shard"
"$python" "${0%/*}/augmenter.py" "ipc://$work/shard/batch" shard=1 >"$work/batches.out" &
ok 'the trainer does not train a shard as its item' \
    timeout "$patience" "$BIN/foil-train" \
    -r "$work/shard" --arch linear --head 8 --threads 1 --steps 2
ok 'the augmenter gets an error and sends the whole item' grep -q \
    '^shard 0 of 2 of an item: .* batches must be whole' "$work/batches.out"
wait
done_testing
