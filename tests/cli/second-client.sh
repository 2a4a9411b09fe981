#!/usr/bin/env bash
# A second client that follows the protocol but lies: it takes items and never delivers,
# or reports the end of the run too early.  The run must continue without it and end with
# the same bits.
# Mostly waits, 25 s
# Not for sanitizers: its stages are in faults.sh, what they refuse in tests/flow.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
peer=${0%/*}/second_client.py

if ! has_python zmq msgpack; then
    skip 'runs with a second client' 'no python3-zmq, python3-msgpack'
    done_testing
fi
warm zmq msgpack
data=$work/data.tar
"$BIN/foil-data" generate -o "$data" --size 16 512 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# run NAME AUGMENTERS WHAT [holding] : a run of 512 steps with that many augmenters and,
# unless WHAT is none, a second client.  With `holding` it sends its message while it
# holds an item, before any augmenter starts.
run() {
    local dir=$work/$1 code=0 trainer began=$SECONDS
    mkdir -m 700 "$dir"
    if [[ $3 != none ]]; then
        "$python" "$peer" "$dir" "$3" plan "${4-}" >"$dir/client.out" 2>&1 &
    fi
    "$BIN/foil-train" -r "$dir" --arch linear --head 32-16 --lr 0.1 \
        --warmup 0 --seed 5 --threads 1 2>"$dir/train.log" &
    trainer=$!
    # the second client starts first, so that it gets items
    [[ $3 == none ]] || waits_for "$dir/client.out"
    "$BIN/foil-select" -r "$dir" --seed 5 --batch 8 --epochs 8 --lease 1.5 \
        "$data" 2>"$dir/select.log" &
    [[ ! ${4-} ]] || becomes_true grep -qx sent "$dir/client.out"
    for ((i = 0; i < $2; i++)); do
        "$BIN/foil-augment" -r "$dir" --seed 5 --size 8 "$data" \
            2>>"$dir/augment.log" &
    done
    wait "$trainer" || code=$?
    echo $((SECONDS - began + 1)) >"$dir/seconds"
    cat "$dir"/*.log
    return "$code"
}

# filtered NAME WHAT : 384 steps with a filter, to which the second client lies
filtered() {
    local dir=$work/$1 code=0 trainer
    mkdir -m 700 "$dir"
    [[ $2 == none ]] ||
        "$python" "$peer" "$dir" "$2" items >"$dir/client.out" 2>&1 &
    "$BIN/foil-train" -r "$dir" --objective emc2 --arch linear --head 32-16 \
        --lr 0.1 --warmup 0 --seed 5 --threads 1 --deadline 100 \
        2>"$dir/train.log" &
    trainer=$!
    "$BIN/foil-negatives" -r "$dir" --filter --seed 5 --lease 1.5 \
        2>"$dir/negatives.log" &
    [[ $2 == none ]] || waits_for "$dir/client.out"
    "$BIN/foil-select" -r "$dir" --seed 5 --batch 8 --epochs 6 --lease 1.5 \
        "$data" 2>"$dir/select.log" &
    "$BIN/foil-augment" -r "$dir" --filter --seed 5 --size 8 "$data" \
        2>"$dir/augment.log" &
    wait "$trainer" || code=$?
    cat "$dir"/*.log
    return "$code"
}

# planned NAME WHAT : 384 steps with plans from features
planned() {
    local dir=$work/$1 code=0 trainer
    mkdir -m 700 "$dir"
    [[ $2 == none ]] || "$python" "$peer" "$dir" "$2" >"$dir/client.out" 2>&1 &
    "$BIN/foil-train" -r "$dir" --arch linear --head 32-16 --lr 0.1 \
        --warmup 0 --seed 5 --threads 1 --keep-features 2 --deadline 100 \
        2>"$dir/train.log" &
    trainer=$!
    [[ $2 == none ]] || waits_for "$dir/client.out"
    "$BIN/foil-select" -r "$dir" --seed 5 --batch 8 --epochs 6 --threads 1 \
        --strategy spectral,block=128 "$data" 2>"$dir/select.log" &
    "$BIN/foil-augment" -r "$dir" --seed 5 --size 8 "$data" \
        2>"$dir/augment.log" &
    wait "$trainer" || code=$?
    cat "$dir"/*.log
    return "$code"
}

# like_calm NAME : it has the weights of the run without a second client
like_calm() {
    cmp "$work/calm/latest/model.safetensors" \
        "$work/$1/latest/model.safetensors"
}

# longest NAME : prints the longest wait of the trainer in seconds: a few, ten on a very
# busy machine, a minute or more if a wait does not end by itself
longest() {
    jq -s 'map(.waited) | max' "$work/$1/metrics.jsonl"
}

start_job calm run calm 2 none
ok 'an undisturbed run succeeds' job_ok calm
# all augmenters must have the same recipe
RECIPE=$(sed -n 's/.*; recipe \([0-9a-f]*\)$/\1/p;T;q' "$work/calm/augment.log")
export RECIPE

# up to eight at a time, since they mostly wait for leases to expire
start_job hold1 run hold1 1 hold
start_job hold3 run hold3 3 hold
start_job hold8 run hold8 8 hold
start_job calm2 filtered calm2 none
start_job calm3 planned calm3 none
for k in 1 3; do
    ok "$k augmenters, and a client that holds an item: the run ends" job_ok "hold$k"
    ok "$k augmenters, and a client that holds an item: the same bits" like_calm "hold$k"
done
start_job hoard run hoard 3 hoard
start_job end-batch run end-batch 2 end-batch
start_job done-near run done-near 2 done-near
start_job held-all run held-all 2 held-all
start_job filter-near filtered filter-near done-near
ok "8 augmenters, and a client that holds an item: the run ends" job_ok hold8
ok "8 augmenters, and a client that holds an item: the same bits" like_calm hold8
# on a very busy machine one of them may have been dropped as silent instead
ok 'the selector names the client that holds an item' \
    grep -q "'second-client' did not deliver epoch 0, step" \
    "$work"/hold{1,3,8}/select.log
# is_set_aside NAME : its client is named at most every four leases, which are six
# seconds
is_set_aside() {
    test "$(grep -c "second-client' did not deliver" "$work/$1/select.log")" -le \
        "$((1 + $(cat "$work/$1/seconds") / 6))"
}
ok 'a client that holds an item is set aside for four leases' \
    is_set_aside hold3
start_job end-plan run end-plan 2 end-plan
start_job filter-far filtered filter-far done-far
start_job done-epochs planned done-epochs done-epochs

ok '3 augmenters, and a client that hoards items: the run ends' job_ok hoard
ok '3 augmenters, and a client that hoards items: the same bits' like_calm hoard
ok 'a client that hoards items is set aside' is_set_aside hoard
ok 'the trainer does not wait for the lease of each hoarded item' \
    holds "$(longest hoard) < 60"
start_job done-far run done-far 2 done-far holding
start_job next-newer run next-newer 2 next-newer holding
start_job next-near run next-near 2 next-near

ok 'a client sends the trainer end: the run ends' \
    job_ok end-batch
ok 'a client sends the trainer end: the same bits' like_calm end-batch
ok 'a client sends the selector the end of the run: the run ends' \
    job_ok end-plan
ok 'a client sends the selector the end of the run: the same bits' like_calm end-plan
ok 'a client claims to be in epoch 99: the run ends' job_ok done-far
ok 'a client claims to be in epoch 99: the same bits' like_calm done-far
ok 'the selector reports that epoch 99 is not in the plan' \
    grep -q 'this plan has 8 epochs' "$work/done-far/select.log"
ok 'a client claims that untrained steps are trained: the run ends' \
    job_ok done-near
ok 'a client claims that untrained steps are trained: the same bits' like_calm done-near
for what in held-all next-near; do
    ok "a client lies to the selector, $what: the run ends" \
        job_ok "$what"
    ok "a client lies to the selector, $what: the same bits" like_calm "$what"
    ok "a client lies to the selector, $what: no wait of a minute" \
        holds "$(longest "$what") < 60"
done
ok 'a client claims a session 80 years ahead: the run ends' \
    job_ok next-newer
ok 'a client claims a session 80 years ahead: the same bits' like_calm next-newer
ok 'the selector reports a session 80 years ahead' \
    grep -q "ahead of this machine's clock" "$work/next-newer/select.log"
ok 'a run with a filter succeeds' job_ok calm2
for what in near far; do
    ok "a client lies to a filter, done-$what: the run ends" \
        job_ok "filter-$what"
    ok "a client lies to a filter, done-$what: the same bits" \
        cmp "$work/calm2/latest/model.safetensors" \
        "$work/filter-$what/latest/model.safetensors"
done
ok 'a run with plans from features succeeds' job_ok calm3
ok 'a client claims that unplanned epochs are trained: the run ends' \
    job_ok done-epochs
ok 'a client claims that unplanned epochs are trained: the same bits' \
    cmp "$work/calm3/latest/model.safetensors" \
    "$work/done-epochs/latest/model.safetensors"
done_testing
