#!/usr/bin/env bash
# Every stage that waits says for whom, also where that one is there and does
# nothing: stages are stopped in turn, and the others name them.
# Not for sanitizers: its stages are in others.
# Mostly waits, 40 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
data=$work/data.tar

"$BIN/foil-data" generate -o "$data" --size 8 64 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# stage RUN NAME OPTIONS... : starts it, its messages in a log there
stage() {
    "$BIN/foil-$2" -r "$work/$1" "${@:3}" 2>>"$work/$1/$2.log" &
    process[$1 $2]=$!
}
declare -A process

# begin RUN FILTER : all stages, of which FILTER is to be one or not
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

# stopped RUN STAGE : while that one does nothing, and others name it
stopped() {
    past "$1" $(($(steps "$1") + 20)) && kill -STOP "${process[$1 $2]}"
}

# goes_on RUN STAGE : again
goes_on() {
    kill -CONT "${process[$1 $2]}" && past "$1" $(($(steps "$1") + 20))
}

# says RUN STAGE PATTERN : on stderr
says() {
    becomes_true grep -qE "$3" "$work/$1/$2.log" || {
        tail -n 5 "$work/$1"/*.log
        return 1
    }
}

# one RUN : by a filter, or without
one() {
    local source=select
    trap 'kill -KILL $(jobs -p) 2>/dev/null; wait' EXIT # one may be stopped
    begin "$1" "$2"
    if $2; then
        source=negatives
    fi

    expect 'it begins' stopped "$1" select
    expect 'the trainer names the stage that items come from' \
        says "$1" train "from 1 augmenters; .* they wait for items from foil-$source"
    if $2; then
        expect 'the filter names the selector' says "$1" negatives \
            "waiting for selector 'select-.*', which hands out no epoch"
    fi
    expect 'the augmenter names it' says "$1" augment \
        "waiting for an item: foil-$source '$source-.*' is connected"
    expect 'it goes on' goes_on "$1" select

    expect 'and on' stopped "$1" train
    expect 'the augmenter names the trainer' says "$1" augment \
        "waiting for trainer 'train-.*': it is connected and sends nothing"
    $2 || expect 'so does the selector' says "$1" select \
        'waiting for the trainer, which reports no progress'
    expect 'it goes on after that' goes_on "$1" train

    expect 'and on again' stopped "$1" augment
    expect 'the trainer lacks augmenters' says "$1" train \
        'still waiting for augmenters: none has been connected'
    expect 'who hands out does' says "$1" "$source" \
        'waiting for augmenters: none is connected'
    expect 'it goes on with them' goes_on "$1" augment
}

begun plain one plain false
begun filtered one filtered true
ok 'without a filter each stage says for whom it waits' ended plain
ok 'with one, too' ended filtered
done_testing
