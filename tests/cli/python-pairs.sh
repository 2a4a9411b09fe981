#!/usr/bin/env bash
# A trainer on foil.py is given pairs of image and caption, and the weights of
# EMC2's chains, states from outside of the batch included.
# Mostly waits, 20 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
here=$(cd "${0%/*}/../python" && pwd)
export PATH=$BIN:$PATH PYTHONPATH=$here/../../pipelines/python
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1

if ! has_python zmq msgpack numpy; then
    skip 'pairs in Python' 'no python3-zmq, python3-msgpack, python3-numpy'
    done_testing
fi
warm zmq msgpack numpy

{
    foil-data generate --size 12 -o "$work/pics.tar" 64
    foil-data index "$work/pics.tar"
    foil-data list "$work/pics.tar" | awk -F'\t' 'NR > 1 {
        print $7 "\t" $1 % 7 " of a shape"; print $7 "\tseen " $1 % 5 }' \
        >"$work/captions.tsv"
    foil-data index -o "$work/pairs.foil" --captions "$work/captions.tsv" \
        "$work/pics.tar"
    foil-data vocabulary -o "$work/words.txt" "$work/pairs.foil"
} 2>"$work/log"

# run NAME OPTION... : all stages, the service with these
run() {
    local run=$work/$1
    mkdir -m 700 "$run"
    timeout 200 foil-select -r "$run" -b 8 -e 3 "$work/pairs.foil" \
        2>"$run/select.log" &
    timeout 200 foil-augment -r "$run" -v 1 --size 8 --context 16 \
        --vocabulary "$work/words.txt" "$work/pairs.foil" 2>"$run/augment.log" &
    timeout 200 foil-negatives -r "$run" --method emc2_bimodal "${@:2}" \
        2>"$run/negatives.log" &
    timeout 200 "$python" "$here/stage.py" train "$run" ask=1 save=100 \
        2>"$run/train.log"
}

ok 'a trainer of pairs: 0' run plain
ok 'all steps are done' grep -q '^steps 24$' "$work/out"
ok 'with states from outside of the batch: 0' run bank --outside bank
ok 'these have weight' grep -q '^outside 0' "$work/out"
done_testing
