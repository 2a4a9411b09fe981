#!/bin/bash
# Runs that are killed, and gone on with, give what undisturbed ones give: the
# same checkpoint and the same metrics, bit for bit.
# Not for sanitizers: kills are in faults.sh, its stages in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

options=(--arch resnet8 --head 16-8 --lr 0.1 --threads 1 --deadline 20
    --checkpoint-every 10)
# an objective that keeps something of both views of each sample; one with a
# service of negatives; one with chains that the trainer keeps itself; one that
# learns a temperature
kept=(--objective isogclr_bimodal)
served=(--objective emc2)
inside=(--objective emc2 --sampler trainer --proposals ,scores=stale)
learnt=(--objective siglip)
all=160 # steps

# others RUN STAGE... : these stages, in the background; their ids in $stages
others() {
    local dir=$work/$1 stage
    shift
    mkdir -p "$dir"
    for stage in "$@"; do
        case $stage in
        select) set -- -b 8 -e $((all / 8)) "$work/set.tar" ;;
        augment) set -- --size 16 "$work/set.tar" ;;
        negatives) set -- ;;
        esac
        "$BIN/foil-$stage" -r "$dir" "$@" 2>>"$dir/$stage.err" &
        stages+=($!)
    done
}

# train RUN OPTIONS... : a trainer, to its end
train() {
    "$BIN/foil-train" -r "$work/$1" "${options[@]}" "${@:2}"
}

# start RUN OPTIONS... : a trainer in the background that has saved, in $trainer
start() {
    "$BIN/foil-train" -r "$work/$1" "${options[@]}" "${@:2}" \
        2>>"$work/$1/train.err" &
    trainer=$!
    becomes_true test -e "$work/$1/latest"
}

# stop SIGNAL PID : and what it ends with
stop() {
    kill "-$1" "$2"
    wait "$2" 2>/dev/null
}

# midway RUN : not at the end yet
midway() {
    test "$(steps "$1")" -lt "$all"
}

end_stages() {
    kill "${stages[@]}" 2>/dev/null
    wait "${stages[@]}" 2>/dev/null
    stages=()
}

# ------------------------------------- what is done to a run, up to its end

# undisturbed RUN OPTIONS... : with a service of negatives where it is served
undisturbed() {
    others "$1" select augment
    [[ $1 != served ]] || others "$1" negatives
    expect 'a good end' train "$@"
    expect 'all its steps' test "$(steps "$1")" -eq "$all"
}

# trainer_killed RUN OPTIONS... : the others stay
trainer_killed() {
    others "$1" select augment augment
    start "$@"
    stop KILL "$trainer"
    expect 'killed in the middle' midway "$1"
    expect 'gone on with' train "$@" --resume
}

trainer_stopped() {
    others stopped select augment
    start stopped "${kept[@]}"
    expect 'a good end when asked to' stop TERM "$trainer"
    expect 'stopped in the middle' midway stopped
    end_stages
    others stopped select augment
    expect 'gone on with by all' train stopped --resume
}

feeders_killed() {
    others fed select augment augment
    start fed "${kept[@]}"
    stop KILL "${stages[1]}"
    stop KILL "${stages[0]}"
    expect 'at work without them' kill -0 "$trainer"
    others fed select
    expect 'at its end' wait "$trainer"
}

service_killed() {
    others again select augment negatives
    start again "${served[@]}"
    stop KILL "${stages[2]}"
    others again negatives
    expect 'going on with the new service' \
        becomes_true has_steps again $(($(steps again) + 1))
    stop KILL "$trainer"
    expect 'killed in the middle' midway again
    expect 'gone on with' train again "${served[@]}" --resume
}

# same WHAT RUN RUN : checkpoints and metrics are equal
same() {
    ok "$1: the same checkpoint" \
        diff -r "$work/$2/latest/" "$work/$3/latest/"
    ok "$1: the same metrics" diff <(timeless "$2") <(timeless "$3")
}

stages=()
ok 'a data set' "$BIN/foil-data" generate --size 16 -o "$work/set.tar" 64
ok 'its index' "$BIN/foil-data" index "$work/set.tar"

# some at a time: much of each is waiting
begun kept undisturbed kept "${kept[@]}"
begun killed trainer_killed killed "${kept[@]}"
begun stopped trainer_stopped
ok 'undisturbed' ended kept
ok 'the trainer is killed in the middle, it goes on, the others stay' \
    ended killed
begun fed feeders_killed
begun served undisturbed served "${served[@]}"
same 'trainer killed' kept killed
ok 'the trainer is asked to stop: 0; all start again' ended stopped
same 'trainer stopped' kept stopped
begun again service_killed
ok 'an augmenter and the selector are killed: the trainer gets to the end' \
    ended fed
same 'selector, augmenter killed' kept fed
begun inside undisturbed inside "${inside[@]}"
begun within trainer_killed within "${inside[@]}"
ok 'undisturbed, with negatives' ended served
ok 'the service is killed and back, then the trainer is killed: it goes on' \
    ended again
same 'service, trainer killed' served again
ok 'undisturbed, with chains of its own' ended inside
ok 'it is killed in the middle, and goes on with its chains' ended within
same 'trainer with chains killed' inside within
begun learnt undisturbed learnt "${learnt[@]}"
begun cut trainer_killed cut "${learnt[@]}"
ok 'undisturbed, with a temperature that is learnt' ended learnt
ok 'it has moved' test "$(jq -r .tau "$work/learnt/metrics.jsonl" | sort -u |
    wc -l)" -gt 20
ok 'it is killed in the middle, and goes on with what it learnt' ended cut
same 'trainer with a learnt temperature killed' learnt cut
done_testing
