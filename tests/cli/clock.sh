#!/usr/bin/env bash
# The clock of all stages is set back by days, then that of the trainer again before it
# restarts: the run continues with a new session.
# Mostly waits, 25 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
data=$work/data.tar
skewed=$BIN/../tests/skewed_clock.so

"$BIN/foil-data" generate -o "$data" --size 8 64 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# days RUN N : sets the clock of all stages of a run N days back
days() {
    local seconds=$((-86400 * $2)) bytes='' i
    for i in 0 8 16 24 32 40 48 56; do
        bytes+=$(printf '\\x%02x' $((seconds >> i & 255)))
    done
    # stages have the file mapped, so it is overwritten and not replaced
    printf '%b' "$bytes" | dd of="$work/$1.clock" conv=notrunc status=none
}

# stage RUN NAME OPTIONS... : start a stage with that clock; its messages go to a log
stage() {
    LD_PRELOAD=$skewed SKEWED_CLOCK=$work/$1.clock \
        "$BIN/foil-$2" -r "$work/$1" "${@:3}" 2>>"$work/$1.$2" &
}

train() {
    stage "$1" train --arch linear --head 8 --lr 0.01 --warmup 0 --threads 1 \
        --objective emc2 --deadline 100 --checkpoint-every 10 "${@:2}"
    trainer=$!
}

# set_back RUN FILTER... : a run with a clock that is set back, with or without a filter
set_back() {
    days "$1" 0
    mkdir -m 700 "$work/$1"
    train "$1"
    stage "$1" select -b 8 -e 100000 "$data"
    stage "$1" negatives "${@:2}"
    stage "$1" augment --size 8 "${@:2}" "$data"
    stage "$1" augment --size 8 "${@:2}" "$data"
    expect '20 steps' reaches "$1" 20
    days "$1" 3
    expect 'steps after the clock is set back by three days' \
        reaches "$1" $(($(steps "$1") + 50))
    expect 'a message about the new session' has_line \
        'days ahead of this machine.* a new session begins' "$work/$1.train"
    kill_now "$trainer"
    days "$1" 6
    train "$1" --resume
    expect 'steps of a trainer that restarts another three days back' \
        reaches "$1" $(($(steps "$1") + 50))
    expect 'a message that says to set the clock' \
        has_line 'days behind .* set the clock' "$work/$1.train"
    days "$1" 0
    expect 'steps after the clock is right again' reaches "$1" $(($(steps "$1") + 50))
}

start_job plain set_back plain
start_job filtered set_back filtered --filter
ok 'a run continues after its clock is set back by days' job_ok plain
ok 'a run with a filter continues after its clock is set back by days' job_ok filtered
done_testing
