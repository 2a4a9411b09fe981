#!/usr/bin/env bash
# What a stage refuses: its sender hears the reason, nobody is kept busy by it,
# and the run goes on when what is good comes.
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

# meet_at ENDPOINT STAGE : a trainer and an augmenter in the background, of which
# STAGE alone has keys
meet_at() {
    local at=$1 train=() augment=()
    local keys=(--keys "$work/keys/$2.key_secret" --allow "$work/friends")
    if [[ $2 == train ]]; then train=("${keys[@]}"); fi
    if [[ $2 == augment ]]; then augment=("${keys[@]}"); fi
    timeout "$patience" "$BIN/foil-train" -r "$work/$2" --batches "$at" --arch linear \
        "${train[@]}" 2>/dev/null &
    timeout "$patience" "$BIN/foil-augment" -r "$work/$2" --batches "$at" \
        "${augment[@]}" "$data" 2>"$work/keys-$2.err" &
}
meet_at "$(endpoint 0)" train
meet_at "$(endpoint 1)" augment

# ------------------------------------- an augmenter and its two neighbours

# meets [MISTAKE] : wrong.py and an augmenter in a folder of their own
meets() {
    [[ -z ${augmenter-} ]] || wait "$augmenter"
    rm -rf "$work/run"
    mkdir "$work/run"
    timeout "$patience" "$BIN/foil-augment" -r "$work/run" --size 8 --seed 3 "$data" \
        2>"$work/augment.err" &
    augmenter=$!
    timeout "$patience" "$python" "$here/wrong.py" "$work/run" 16 "$@" >"$work/told"
}

# told MISTAKE PATTERN : the sender got an error with that reason, which names
# the kind of the message that was meant
told() {
    cat "$work/told"
    grep -qE "^$1"$'\t'".*$2.*"$'\t'"[a-z?]+\$" "$work/told"
}

meets
kill "$augmenter"
while read -r mistake pattern; do
    ok "$mistake: its sender hears why" told "$mistake" "$pattern"
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
kind no such kind of message: 'foil2.items'
prefix 'item'
v1 peer speaks foil1, this is foil2
part tensor 'ids' has 24 bytes
noheader message of 1 parts
END
few() {
    awk '$1 == "flood" && $2 >= 1 && $2 <= 16 * 4 { n++ }
         { print } END { exit !n }' "$work/told"
}
ok 'of 200 at once few are answered' few
ok 'and good items make batches' grep -qE $'^batches\t([2-9]|1[0-9])' "$work/told"
ok 'the augmenter says what it refused' \
    grep -q "^foil-augment: select: .*tensor 'ids' is i4" "$work/augment.err"
lines() {
    wc -l <"$work/augment.err"
    test "$(grep -c 'so far' "$work/augment.err")" -lt 14
}
ok 'the 1st, 2nd, 4th, 8th ... time' lines

meets nodataset
kill "$augmenter"
ok "a hello that cannot be read: its sender hears why" \
    told nodataset "'dataset' is missing"
for mistake in version digest; do
    meets "$mistake"
    ok "$mistake of hello does not fit: the augmenter ends with 1" \
        exits 1 wait "$augmenter"
    ok 'its sender hears why' told "$mistake" 'select (speaks|has)'
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
large='a batch of 32 images of 128 x 128 has 2 MiB, the trainer takes 1'
ok 'an augmenter refuses an item whose batch would be too large' \
    becomes_true grep -q "$large" "$work/large/augment.err"
ok 'the selector hears why' \
    becomes_true grep -q "refuses our item of epoch 0, step 0: .*$large" \
    "$work/large/select.err"
kill "$trainer" "$selector" %% 2>/dev/null

# says NAME : twice, with the reason
says() {
    cat "$work/keys-$1.err"
    test "$(grep -c 'still waiting for a trainer: no handshake at' \
        "$work/keys-$1.err")" -ge 2
}
for stage in train augment; do
    becomes_true says "$stage" >/dev/null
    ok "keys of foil-$stage alone: that is said every ten seconds" says "$stage"
done
done_testing
