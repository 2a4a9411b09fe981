#!/usr/bin/env bash
# Every stage that waits prints for which stage, also for one that is connected and idle:
# stages are stopped one after the other, and the others name them.
# Not for sanitizers: other tests cover its stages.
# Mostly waits, 40 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
data=$work/data.tar

"$BIN/foil-data" generate -o "$data" --size 8 64 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# stage RUN NAME OPTIONS... : starts it; its messages go to a log
stage() {
    "$BIN/foil-$2" -r "$work/$1" "${@:3}" 2>>"$work/$1/$2.log" &
    process[$1 $2]=$!
}
declare -A process

# begin RUN FILTER : starts all stages; FILTER: true or false
begin() {
    local filter=()
    mkdir -m 700 "$work/$1"
    stage "$1" train --arch linear --head 8 --lr 0.01 --warmup 0 --threads 1 \
        --objective emc2 --deadline 600
    trainer=${process[$1 train]}
    stage "$1" select -b 8 -e 100000 --lease 600 "$data"
    if $2; then
        filter=(--filter)
    fi
    stage "$1" negatives "${filter[@]}"
    stage "$1" augment --size 8 "${filter[@]}" "$data"
}

# stopped RUN STAGE : stops it after 20 steps
stopped() {
    reaches "$1" $(($(steps "$1") + 20)) && kill -STOP "${process[$1 $2]}"
}

# goes_on RUN STAGE : continues it and waits for 20 steps
goes_on() {
    kill -CONT "${process[$1 $2]}" && reaches "$1" $(($(steps "$1") + 20))
}

# log_has RUN STAGE PATTERN : the log of the stage matches
log_has() {
    becomes_true grep -qE "$3" "$work/$1/$2.log" || {
        tail -n 5 "$work/$1"/*.log
        return 1
    }
}

# one RUN FILTER : a run with or without a filter
one() {
    local source=select
    trap 'kill -KILL $(jobs -p) 2>/dev/null; wait' EXIT # one may be stopped
    begin "$1" "$2"
    if $2; then
        source=negatives
    fi

    expect '20 steps' stopped "$1" select
    expect 'the trainer names the stage that items come from' \
        log_has "$1" train "from 1 augmenters; .* they wait for items from foil-$source"
    if $2; then
        expect 'the filter names the selector' log_has "$1" negatives \
            "waiting for selector 'select-.*', which hands out no epoch"
    fi
    expect 'the augmenter names it' log_has "$1" augment \
        "waiting for an item: foil-$source '$source-.*' is connected"
    expect 'steps after the selector was stopped' goes_on "$1" select

    expect '20 further steps' stopped "$1" train
    expect 'the augmenter names the trainer' log_has "$1" augment \
        "waiting for trainer 'train-.*': it is connected and sends nothing"
    $2 || expect 'the selector names the trainer' log_has "$1" select \
        'waiting for the trainer, which reports no progress'
    expect 'steps after the trainer was stopped' goes_on "$1" train

    expect '20 further steps' stopped "$1" augment
    expect 'the trainer reports that it has no augmenter' \
        log_has "$1" train 'still waiting for augmenters: none has been connected'
    expect 'the stage that hands out items does so, too' log_has "$1" "$source" \
        'waiting for augmenters: none is connected'
    expect 'steps after the augmenter was stopped' goes_on "$1" augment
}

start_job plain one plain false
start_job filtered one filtered true
ok 'without a filter, each stage names the stage for which it waits' job_ok plain
ok 'with a filter, each stage names the stage for which it waits' job_ok filtered
done_testing
