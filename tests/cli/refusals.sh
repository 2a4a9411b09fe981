#!/usr/bin/env bash
# Messages that a stage refuses: the sender gets the reason, a flood of them costs
# little, and the run continues with valid messages.
# Mostly waits, 20 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
here=${0%/*}

if ! has_python zmq msgpack; then
    skip 'refusals' 'no python3-zmq'
    done_testing
fi
warm zmq msgpack
data=$work/data.tar
"$BIN/foil-data" generate --size 8 -o "$data" 16 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# --------------------------------------- keys at one end of an edge only

mkdir "$work/friends"
for role in train augment; do
    "$BIN/foil-tap" --role "$role" keys "$work/keys" "$role" >/dev/null 2>&1
    cp "$work/keys/$role.key" "$work/friends"
done

# start_pair ENDPOINT STAGE : starts a trainer and an augmenter; only STAGE has keys
start_pair() {
    local at=$1 train=() augment=()
    local keys=(--keys "$work/keys/$2.key_secret" --allow "$work/friends")
    if [[ $2 == train ]]; then train=("${keys[@]}"); fi
    if [[ $2 == augment ]]; then augment=("${keys[@]}"); fi
    timeout "$patience" "$BIN/foil-train" -r "$work/$2" --batches "$at" --arch linear \
        "${train[@]}" 2>/dev/null &
    timeout "$patience" "$BIN/foil-augment" -r "$work/$2" --batches "$at" \
        "${augment[@]}" "$data" 2>"$work/keys-$2.err" &
}
start_pair "$(endpoint 0)" train
start_pair "$(endpoint 1)" augment

# ------------------------------------- an augmenter and its two neighbours

# run_wrong [MISTAKE] : runs wrong.py with an augmenter in a new folder
run_wrong() {
    [[ -z ${augmenter-} ]] || wait "$augmenter"
    rm -rf "$work/run"
    mkdir "$work/run"
    timeout "$patience" "$BIN/foil-augment" -r "$work/run" --size 8 --seed 3 "$data" \
        2>"$work/augment.err" &
    augmenter=$!
    timeout "$patience" "$python" "$here/wrong.py" "$work/run" 16 "$@" >"$work/errors"
}

# got_error MISTAKE PATTERN : the sender got an error with that reason and the kind of its
# message
got_error() {
    cat "$work/errors"
    grep -qE "^$1"$'\t'".*$2.*"$'\t'"[a-z?]+\$" "$work/errors"
}

run_wrong
kill "$augmenter"
while read -r mistake pattern; do
    ok "the sender of a bad item gets the reason: $mistake" \
        got_error "$mistake" "$pattern"
done <<'END'
i4 tensor 'ids' is i4
outside id 16 in 'ids' is not in the data set of 16
twice sample 0 is in 'ids' twice
size data set of 17 images, ours has 16
nosteps 'steps' is missing
float 'epoch' is not a whole number
stepover 'steps' is not a whole number in 1001
otherrun of run 'other', this is run ''
empty tensor 'ids' is empty
kind no such kind of message: 'foil3.items'
prefix 'item'
v1 peer speaks foil1, this is foil3
part tensor 'ids' has 24 bytes
noheader message of 1 parts
END
few() {
    awk '$1 == "flood" && $2 >= 1 && $2 <= 16 * 4 { n++ }
         { print } END { exit !n }' "$work/errors"
}
ok 'few of 200 bad items are answered' few
ok 'valid items after bad ones make batches' \
    grep -qE $'^batches\t([2-9]|1[0-9])' "$work/errors"
ok 'the augmenter reports a refused item' \
    grep -q "^foil-augment: select: .*tensor 'ids' is i4" "$work/augment.err"
lines() {
    wc -l <"$work/augment.err"
    test "$(grep -c 'so far' "$work/augment.err")" -lt 14
}
ok 'the augmenter reports the 1st, 2nd, 4th, 8th ... refusal' lines

run_wrong nodataset
kill "$augmenter"
ok "the sender of a hello without dataset gets the reason" \
    got_error nodataset "'dataset' is missing"
for mistake in version digest; do
    run_wrong "$mistake"
    ok "a wrong $mistake in hello ends the augmenter with 1" \
        exits 1 wait "$augmenter"
    ok "the sender of a wrong $mistake gets the reason" \
        got_error "$mistake" 'select (speaks|has)'
done

# ----------------------- a batch of more than the trainer receives: 1.5 MiB

mkdir "$work/large"
timeout "$patience" "$BIN/foil-train" -r "$work/large" --arch linear --max-batch 1 \
    --deadline 20 2>"$work/large/train.err" &
trainer=$!
timeout "$patience" "$BIN/foil-select" -r "$work/large" --batch 16 "$data" \
    2>"$work/large/select.err" &
selector=$!
timeout "$patience" "$BIN/foil-augment" -r "$work/large" --size 128 "$data" \
    2>"$work/large/augment.err" &
large='a batch of 32 views of 128 x 128 has 2 MiB, the trainer takes 1'
ok 'an augmenter refuses an item with a batch above --max-batch' \
    becomes_true grep -q "$large" "$work/large/augment.err"
ok 'the selector gets the reason for a batch above --max-batch' \
    becomes_true grep -q "refuses our item of epoch 0, step 0: .*$large" \
    "$work/large/select.err"
kill "$trainer" "$selector" %% 2>/dev/null

# reports_twice NAME : twice, with the reason
reports_twice() {
    cat "$work/keys-$1.err"
    test "$(grep -c 'still waiting for a trainer: no handshake at' \
        "$work/keys-$1.err")" -ge 2
}
for stage in train augment; do
    becomes_true reports_twice "$stage" >/dev/null
    ok "keys of foil-$stage only: the missing handshake is reported" \
        reports_twice "$stage"
done
done_testing
