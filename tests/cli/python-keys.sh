#!/usr/bin/env bash
# Stages in Python over tcp with CURVE keys, beside an augmenter in C.
# Mostly waits, 10 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
here=$(cd "${0%/*}/../python" && pwd)
export PATH=$BIN:$PATH PYTHONPATH=$here/../../pipelines/python
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

if ! has_python zmq msgpack numpy; then
    skip 'stages in Python' 'no python3-zmq, python3-msgpack, python3-numpy'
    done_testing
fi
warm zmq msgpack numpy
cd "$work" || exit 1
foil-data generate --size 8 -o d.tar 64 2>/dev/null
foil-data index d.tar 2>/dev/null
mkdir -m 700 run run/keys run/friends
for role in select augment train tap; do
    foil-tap --role "$role" keys run/friends "$role" >/dev/null
    mv "run/friends/$role.key_secret" run/keys
done
keys() {
    echo "keys=run/keys/$1.key_secret allow=run/friends"
}
stage() {
    timeout 60 "$python" "$here/stage.py" "$@"
}
# begin ARGUMENT... : a stage in the background, not in a shell that would be killed
# alone
begin() {
    timeout 60 "$python" "$here/stage.py" "$@" &
}
plan=$(endpoint 0) batch=$(endpoint 1)

# shellcheck disable=SC2046 # two words
begin select run d.tar plan="$plan" $(keys select) 2>select.err
selector=$!
# shellcheck disable=SC2046
begin train run batch="$batch" $(keys train) >train.out 2>train.err
trainer=$!

# Whom neither lets in: one without a key, and one whose key is of another role.
begin augment run d.tar plan="$plan" batch="$batch" 2>keyless.err
keyless=$!
# shellcheck disable=SC2046
begin augment run d.tar plan="$plan" $(keys tap) 2>tap.err
tap=$!
ok 'what a key may not send is refused, and its holder is told' \
    becomes_true grep -qs "role 'tap' may not send" tap.err
ok 'no step was trained meanwhile' test ! -s run/metrics.jsonl
kill "$keyless" "$tap"
foil-augment -r run --size 8 --plan "$plan" --batches "$batch" \
    --keys run/keys/augment.key_secret --allow run/friends d.tar \
    2>augment.err &
augmenter=$!
ok 'a trainer in Python ends' wait "$trainer"
ok 'with all its steps' grep -qx 'steps 32' train.out
ok 'so do a selector in Python' wait "$selector"
ok 'and an augmenter in C' wait "$augmenter"
chmod 644 run/keys/train.key_secret
# shellcheck disable=SC2046
ok 'a key that others may read is refused' exits 1 \
    stage train fresh batch="$batch" $(keys train)
ok 'it says so' grep -q 'may be read by others' "$work/out"
done_testing
