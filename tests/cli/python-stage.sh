#!/usr/bin/env bash
# Stages in Python take the place of ours: pipelines/examples.
# Mostly waits
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
here=${0%/*}
examples=$here/../../pipelines/examples
python=/usr/bin/python3
export OMP_NUM_THREADS=1

if ! has_python zmq msgpack; then
    skip 'stages in Python' 'no python3-zmq'
    done_testing
fi

data=$work/data.tar
"$BIN/foil-data" generate --size 8 -o "$data" 13 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# select_py NAME : in run directory NAME, its number in $selector
select_py() {
    mkdir -p "$work/$1"
    timeout 60 $python "$examples/select.py" "ipc://$work/$1/plan" 4 3 1 \
        2>"$work/$1/select.err" &
    selector=$!
}

# ask NAME [NAME=VALUE ...] : items as JSON lines
ask() {
    timeout 60 $python "$here/asker.py" "ipc://$work/$1/plan" size=13 "${@:2}"
}

# plan FILE : the items in order, each once
plan() {
    sort -u "$1" | jq -sc 'sort_by(.epoch, .step)[]'
}

ok 'under 80 lines' test "$(wc -l <"$examples/select.py")" -lt 80

select_py whole
ask whole >"$work/plan"
ok 'select.py ends when all is trained' wait "$selector"
ok 'its plan is legal: each sample once in each epoch' jq -se \
    'group_by(.epoch) | length == 3 and
     all(map(.ids) | add | sort == [range(13)])' "$work/plan"

select_py dead
ask dead limit=5 >"$work/first"
ask dead epoch=1 >"$work/second"
ok 'an augmenter dies: it goes on' wait "$selector"
cat "$work/first" "$work/second" >"$work/both"
ok 'with the same plan' diff <(plan "$work/plan") <(plan "$work/both")

mkdir "$work/lease"
timeout 60 $python "$examples/select.py" "ipc://$work/lease/plan" 4 3 1 0.5 \
    2>"$work/lease.err" &
ok 'a lease that is over counts when the trainer has looked since' \
    grep -q '^kept moved' <(timeout 60 $python "$here/leases.py" \
        "ipc://$work/lease/plan")
kill $! 2>/dev/null

# train NAME OPTIONS... : the other stages, until the trainer ends
train() {
    local run=$work/$1
    timeout 60 "$BIN/foil-augment" -r "$run" --size 8 "$data" \
        2>"$run/augment.err" &
    augmenter=$!
    timeout 60 "$BIN/foil-train" -r "$run" --arch linear --head 8 \
        --threads 1 "${@:2}" 2>"$run/train.err"
}

# steps NAME : how many are in the metrics, and in how many images
steps() {
    jq -s 'length == 12 and last.images == 39' "$work/$1/metrics.jsonl" |
        grep -q true
}

select_py run
ok 'a whole run with select.py: 0' train run
ok 'the selector ends with it' wait "$selector"
ok 'so does the augmenter' wait "$augmenter"
ok 'twelve steps, every image in each epoch' steps run

if has_python numpy; then
    ok 'sixty lines or less' test "$(wc -l <"$examples/negatives.py")" -le 60
    select_py emc2
    timeout 60 $python "$examples/negatives.py" \
        "ipc://$work/emc2/negatives" 2>"$work/emc2/negatives.err" &
    ok 'a whole run with negatives.py too: 0' train emc2 --objective emc2
    ok 'twelve steps' steps emc2
else
    skip 'negatives.py' 'no python3-numpy'
fi

done_testing
