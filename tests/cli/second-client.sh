#!/usr/bin/env bash
# A second client that keeps the rules of the protocol and none of its sense:
# one that takes items and never delivers, one that says too early that the run
# is over. The run must go on without it, and end with the same bits.
# Mostly waits, 25 s
# Not for sanitizers: its stages are in faults.sh, what they refuse in tests/flow.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
peer=${0%/*}/second_client.py

if ! has_python zmq msgpack; then
    skip 'all of it' 'no python3-zmq, python3-msgpack'
    done_testing
fi
warm zmq msgpack
data=$work/data.tar
"$BIN/foil-data" generate -o "$data" --size 16 512 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# run NAME AUGMENTERS WHAT [holding] : a run of 512 steps with that many augmenters
# and, unless WHAT is none, a second client; one that says it holding an item says
# it before there is any augmenter
run() {
    local dir=$work/$1 code=0 trainer began=$SECONDS
    mkdir -m 700 "$dir"
    if [[ $3 != none ]]; then
        "$python" "$peer" "$dir" "$3" plan "${4-}" >"$dir/told" 2>&1 &
    fi
    "$BIN/foil-train" -r "$dir" --arch linear --head 32-16 --lr 0.1 \
        --warmup 0 --seed 5 --threads 1 2>"$dir/train.log" &
    trainer=$!
    # the second client comes first: it is to have its share
    [[ $3 == none ]] || waits_for "$dir/told"
    "$BIN/foil-select" -r "$dir" --seed 5 --batch 8 --epochs 8 --lease 1.5 \
        "$data" 2>"$dir/select.log" &
    [[ ! ${4-} ]] || becomes_true grep -qx said "$dir/told"
    for ((i = 0; i < $2; i++)); do
        "$BIN/foil-augment" -r "$dir" --seed 5 --size 8 "$data" \
            2>>"$dir/augment.log" &
    done
    wait "$trainer" || code=$?
    echo $((SECONDS - began + 1)) >"$dir/seconds"
    cat "$dir"/*.log
    return "$code"
}

# filtered NAME WHAT : 384 steps with a filter, which the second client lies to
filtered() {
    local dir=$work/$1 code=0 trainer
    mkdir -m 700 "$dir"
    [[ $2 == none ]] ||
        "$python" "$peer" "$dir" "$2" items >"$dir/told" 2>&1 &
    "$BIN/foil-train" -r "$dir" --objective emc2 --arch linear --head 32-16 \
        --lr 0.1 --warmup 0 --seed 5 --threads 1 --deadline 100 \
        2>"$dir/train.log" &
    trainer=$!
    "$BIN/foil-negatives" -r "$dir" --filter --seed 5 --lease 1.5 \
        2>"$dir/negatives.log" &
    [[ $2 == none ]] || waits_for "$dir/told"
    "$BIN/foil-select" -r "$dir" --seed 5 --batch 8 --epochs 6 --lease 1.5 \
        "$data" 2>"$dir/select.log" &
    "$BIN/foil-augment" -r "$dir" --filter --seed 5 --size 8 "$data" \
        2>"$dir/augment.log" &
    wait "$trainer" || code=$?
    cat "$dir"/*.log
    return "$code"
}

# planned NAME WHAT : 384 steps, planned from features
planned() {
    local dir=$work/$1 code=0 trainer
    mkdir -m 700 "$dir"
    [[ $2 == none ]] || "$python" "$peer" "$dir" "$2" >"$dir/told" 2>&1 &
    "$BIN/foil-train" -r "$dir" --arch linear --head 32-16 --lr 0.1 \
        --warmup 0 --seed 5 --threads 1 --keep-features 2 --deadline 100 \
        2>"$dir/train.log" &
    trainer=$!
    [[ $2 == none ]] || waits_for "$dir/told"
    "$BIN/foil-select" -r "$dir" --seed 5 --batch 8 --epochs 6 --threads 1 \
        --strategy spectral,block=128 "$data" 2>"$dir/select.log" &
    "$BIN/foil-augment" -r "$dir" --seed 5 --size 8 "$data" \
        2>"$dir/augment.log" &
    wait "$trainer" || code=$?
    cat "$dir"/*.log
    return "$code"
}

# like_calm NAME : the same weights as those of a run without second client
like_calm() {
    cmp "$work/calm/latest/model.safetensors" \
        "$work/$1/latest/model.safetensors"
}

# longest NAME : the longest time for which the trainer waited, in seconds: some, or
# ten on a machine that is very busy; to a minute for what never ends by itself
longest() {
    jq -s 'map(.waited) | max' "$work/$1/metrics.jsonl"
}

begun calm run calm 2 none
ok 'an undisturbed run ends' ended calm
# what all who bring views must agree in
RECIPE=$(sed -n 's/.*; recipe \([0-9a-f]*\)$/\1/p;T;q' "$work/calm/augment.log")
export RECIPE

# up to eight at a time: most of each is waiting for a lease to end
begun hold1 run hold1 1 hold
begun hold3 run hold3 3 hold
begun hold8 run hold8 8 hold
begun calm2 filtered calm2 none
begun calm3 planned calm3 none
for k in 1 3; do
    ok "$k augmenters, one more holds an item: the run ends" ended "hold$k"
    ok "... with the same bits, $k augmenters" like_calm "hold$k"
done
begun hoard run hoard 3 hoard
begun end-batch run end-batch 2 end-batch
begun done-near run done-near 2 done-near
begun held-all run held-all 2 held-all
begun filter-near filtered filter-near done-near
ok "8 augmenters, one more holds an item: the run ends" ended hold8
ok "... with the same bits, 8 augmenters" like_calm hold8
# on a machine that is very busy it may have been silent for too long instead
ok 'the selector names who held it' \
    grep -q "'second-client' did not deliver epoch 0, step" \
    "$work"/hold{1,3,8}/select.log
# four leases are six seconds; a run that lasts longer names it again after them
# is_set_aside NAME : its second client is named at most that often
is_set_aside() {
    test "$(grep -c "second-client' did not deliver" "$work/$1/select.log")" -le \
        "$((1 + $(cat "$work/$1/seconds") / 6))"
}
ok 'the peer is set aside: it is named at most every four leases' \
    is_set_aside hold3
begun end-plan run end-plan 2 end-plan
begun filter-far filtered filter-far done-far
begun done-epochs planned done-epochs done-epochs

ok '3 augmenters, one more hoards all items: the run ends' ended hoard
ok '... with the same bits, hoard' like_calm hoard
ok 'it is set aside, with all that it holds' is_set_aside hoard
ok 'the trainer did not wait for the lease of each' holds "$(longest hoard) < 60"
begun done-far run done-far 2 done-far holding
begun next-newer run next-newer 2 next-newer holding
begun next-near run next-near 2 next-near

ok 'one peer tells the trainer that nothing is left: the run goes on' \
    ended end-batch
ok '... with the same bits, end-batch' like_calm end-batch
ok 'one peer tells the selector that the run is over: the run goes on' \
    ended end-plan
ok '... with the same bits, end-plan' like_calm end-plan
ok 'one peer says that epoch 99 is reached: the run goes on' ended done-far
ok '... with the same bits, done-far' like_calm done-far
ok 'the selector says what is wrong with that' \
    grep -q 'this plan has 8 epochs' "$work/done-far/select.log"
ok 'one peer says too early that steps are trained: the run goes on' \
    ended done-near
ok '... with the same bits, done-near' like_calm done-near
for what in held-all next-near; do
    ok "one peer tells the selector what is not so, $what: the run goes on" \
        ended "$what"
    ok "... with the same bits, $what" like_calm "$what"
    ok "... and no wait of a minute" holds "$(longest "$what") < 60"
done
ok 'one peer names a session of the next century: the run goes on' \
    ended next-newer
ok '... with the same bits, next-newer' like_calm next-newer
ok 'the selector says that it is refused' \
    grep -q "ahead of this machine's clock" "$work/next-newer/select.log"
ok 'a run with a filter ends' ended calm2
for what in near far; do
    ok "one peer lies to a filter, done-$what: the run goes on" \
        ended "filter-$what"
    ok "... with the same bits, done-$what" \
        cmp "$work/calm2/latest/model.safetensors" \
        "$work/filter-$what/latest/model.safetensors"
done
ok 'a run with plans from features ends' ended calm3
ok 'one peer says that epochs are trained which are not planned: the run goes on' \
    ended done-epochs
ok '... with the same bits, done-epochs' \
    cmp "$work/calm3/latest/model.safetensors" \
    "$work/done-epochs/latest/model.safetensors"
done_testing
