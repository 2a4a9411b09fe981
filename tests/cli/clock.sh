#!/usr/bin/env bash
# A clock that is set back by days under a run, and then under its trainer alone
# when it starts again: the run goes on, with a new session.
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

# days RUN N : the clock of all stages of a run is so many days behind
days() {
    local seconds=$((-86400 * $2)) bytes='' i
    for i in 0 8 16 24 32 40 48 56; do
        bytes+=$(printf '\\x%02x' $((seconds >> i & 255)))
    done
    # the file is mapped, so it stays the same
    printf '%b' "$bytes" | dd of="$work/$1.clock" conv=notrunc status=none
}

# stage RUN NAME OPTIONS... : by that clock, its messages in a log
stage() {
    LD_PRELOAD=$skewed SKEWED_CLOCK=$work/$1.clock \
        "$BIN/foil-$2" -r "$work/$1" "${@:3}" 2>>"$work/$1.$2" &
}

train() {
    stage "$1" train --arch linear --head 8 --lr 0.01 --warmup 0 --threads 1 \
        --objective emc2 --deadline 100 --checkpoint-every 10 "${@:2}"
    trainer=$!
}

# set_back RUN FILTER... : a run, by a filter or not
set_back() {
    days "$1" 0
    mkdir -m 700 "$work/$1"
    train "$1"
    stage "$1" select -b 8 -e 100000 "$data"
    stage "$1" negatives "${@:2}"
    stage "$1" augment --size 8 "${@:2}" "$data"
    stage "$1" augment --size 8 "${@:2}" "$data"
    expect 'it begins' past "$1" 20
    days "$1" 3
    expect 'it goes on three days before' past "$1" $(($(steps "$1") + 50))
    expect 'by a session that the trainer names' has_line \
        'days ahead of this machine.* a new session begins' "$work/$1.train"
    kill_now "$trainer"
    days "$1" 6
    train "$1" --resume
    expect 'and so does a trainer that starts another three before' \
        past "$1" $(($(steps "$1") + 50))
    expect 'which says what to do' has_line 'days behind .* set the clock' \
        "$work/$1.train"
    days "$1" 0
    expect 'and all when it is right again' past "$1" $(($(steps "$1") + 50))
}

begun plain set_back plain
begun filtered set_back filtered --filter
ok 'a clock that is set back by days' ended plain
ok 'and with a filter' ended filtered
done_testing
