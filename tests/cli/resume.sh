#!/bin/bash
# Runs that are killed, and gone on with, give what undisturbed ones give: the
# same checkpoint and the same metrics, bit for bit.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

options=(--arch resnet8 --head 16-8 --lr 0.1 --threads 1 --deadline 20
    --checkpoint-every 10)
# an objective that keeps something of both views of each sample
kept=(--objective isogclr_bimodal)

# others DIR STAGE... : these stages, in the background; their ids in $stages
others() {
    local dir=$1 stage
    shift
    mkdir -p "$dir"
    for stage in "$@"; do
        case $stage in
        select) set -- -b 8 -e 30 "$work/set.tar" ;;
        augment) set -- --size 16 "$work/set.tar" ;;
        negatives) set -- ;;
        esac
        "$BIN/foil-$stage" -r "$dir" "$@" 2>>"$dir/$stage.err" &
        stages+=($!)
    done
}

# whole DIR OPTIONS... : a run that nobody disturbs
whole() {
    local dir=$1
    shift
    "$BIN/foil-train" -r "$dir" "${options[@]}" "$@"
}

# start DIR OPTIONS... : a trainer in the background that has saved, in $trainer
start() {
    local dir=$1
    shift
    "$BIN/foil-train" -r "$dir" "${options[@]}" "$@" 2>>"$dir/train.err" &
    trainer=$!
    becomes_true test -e "$dir/latest"
}

# stop SIGNAL PID : and what it ends with
stop() {
    kill "-$1" "$2"
    wait "$2" 2>/dev/null
}

end_stages() {
    kill "${stages[@]}" 2>/dev/null
    wait
    stages=()
}

steps() {
    wc -l <"$1/metrics.jsonl"
}

# beyond N DIR : more than N steps are done
beyond() {
    test "$(steps "$2")" -gt "$1"
}

# same WHAT DIR DIR : checkpoints and metrics are equal
same() {
    ok "$1: the same checkpoint" diff -r "$2/latest/" "$3/latest/"
    ok "$1: the same metrics" diff \
        <(jq -c 'del(.seconds, .waited, .time)' "$2/metrics.jsonl") \
        <(jq -c 'del(.seconds, .waited, .time)' "$3/metrics.jsonl")
}

stages=()
ok 'a data set' "$BIN/foil-data" generate --size 16 -o "$work/set.tar" 64
ok 'its index' "$BIN/foil-data" index "$work/set.tar"

others "$work/a" select augment
ok 'undisturbed' whole "$work/a" "${kept[@]}"
end_stages
all=$(steps "$work/a")
ok 'of 30 epochs of 8 steps' test "$all" -eq 240

others "$work/b" select augment augment
start "$work/b" "${kept[@]}"
stop KILL "$trainer"
ok 'the trainer is killed in the middle' test "$(steps "$work/b")" -lt "$all"
ok 'it goes on, the others stay' whole "$work/b" --resume
end_stages
same 'trainer killed' "$work/a" "$work/b"

others "$work/c" select augment
start "$work/c" "${kept[@]}"
stop TERM "$trainer"
ok 'the trainer is asked to stop: 0' test $? -eq 0
ok 'in the middle' test "$(steps "$work/c")" -lt "$all"
end_stages
others "$work/c" select augment
ok 'all start again' whole "$work/c" --resume
end_stages
same 'trainer stopped' "$work/a" "$work/c"

others "$work/d" select augment augment
start "$work/d" "${kept[@]}"
stop KILL "${stages[1]}"
stop KILL "${stages[0]}"
unset 'stages[0]' 'stages[1]'
ok 'an augmenter and the selector are killed' kill -0 "$trainer"
others "$work/d" select
wait "$trainer"
ok 'the trainer gets to the end' test $? -eq 0
end_stages
same 'selector, augmenter killed' "$work/a" "$work/d"

others "$work/e" select augment negatives
ok 'undisturbed, with negatives' whole "$work/e" --objective emc2
end_stages

others "$work/f" select augment negatives
start "$work/f" --objective emc2
stop KILL "${stages[2]}"
unset 'stages[2]'
others "$work/f" negatives
ok 'the service is back' becomes_true beyond "$(steps "$work/f")" "$work/f"
stop KILL "$trainer"
ok 'the trainer is killed in the middle' test "$(steps "$work/f")" -lt "$all"
ok 'it goes on' whole "$work/f" --objective emc2 --resume
end_stages
same 'service, trainer killed' "$work/e" "$work/f"

# the chains that the trainer keeps itself are in its checkpoint, too
inside=(--objective emc2 --sampler stale)
others "$work/g" select augment
ok 'undisturbed, with chains of its own' whole "$work/g" "${inside[@]}"
end_stages

others "$work/h" select augment
start "$work/h" "${inside[@]}"
stop KILL "$trainer"
ok 'it is killed in the middle' test "$(steps "$work/h")" -lt "$all"
ok 'it goes on with its chains' whole "$work/h" "${inside[@]}" --resume
end_stages
same 'trainer with chains killed' "$work/g" "$work/h"

# what an objective learns itself is in its checkpoint, with moments
learnt=(--objective siglip)
others "$work/i" select augment
ok 'undisturbed, with a temperature that is learnt' whole "$work/i" \
    "${learnt[@]}"
end_stages
ok 'it has moved' test "$(jq -r .tau "$work/i/metrics.jsonl" | sort -u |
    wc -l)" -gt 20

others "$work/j" select augment
start "$work/j" "${learnt[@]}"
stop KILL "$trainer"
ok 'it is killed in the middle' test "$(steps "$work/j")" -lt "$all"
ok 'it goes on with what it learnt' whole "$work/j" "${learnt[@]}" --resume
end_stages
same 'trainer with a learnt temperature killed' "$work/i" "$work/j"

done_testing
