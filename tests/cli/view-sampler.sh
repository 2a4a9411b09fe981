#!/usr/bin/env bash
# The page of foil-view of a run with a sampler and a plan: published weights next to the
# softmax; and results that come while the page is open.
# Not for sanitizers: other tests run the stages of pipelines.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
if ! command -v chromium >/dev/null; then
    skip 'the page in a browser' 'no chromium'
    done_testing
    exit
fi
cd "$work" || exit 1
foil-data generate -o set.tar 200 2>/dev/null && foil-data index set.tar 2>/dev/null

foil run emc2 set.tar -r run --augmenters 1 --threads 1 --batch 16 --epochs 100000 \
    --strategy spectral --arch linear --head 16-9 --size 16 --lr .01 --checkpoint-every 200 2>run.err &
training=$!
becomes_true test -s run/metrics.jsonl
foil-tap -f -k top_negatives -r run events >published 2>/dev/null &
tap=$!
foil-tap -k event -r run events >results 2>/dev/null &
taps=("$tap" "$!")
foil-view --port 0 -r run >address 2>view.err &
page=$!
becomes_true test -s published
becomes_true test -s results
becomes_true test -s address
pass_on /usr/bin/python3 "$here/view_sampler.py" "$PWD/run" "$(<address)" published
ok 'the result is published as an event' becomes_true grep -q '"what":"result".*0\.375' results
kill "${taps[@]}" "$page"
kill -TERM "$training"
wait "$training"
done_testing
