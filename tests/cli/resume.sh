#!/bin/bash
# Runs that are killed and resumed give the checkpoint and the metrics of undisturbed
# ones, bit for bit.
# Not for sanitizers: kills are in faults.sh, its stages in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

options=(--arch resnet8 --head 16-8 --lr 0.1 --threads 1 --deadline 20
    --checkpoint-every 10)
# objectives: with state for both views of each sample; with a negatives service; with
# chains in the trainer; with a learnt temperature
stateful=(--objective isogclr_bimodal)
served=(--objective emc2)
inside=(--objective emc2 --sampler trainer --proposals ,scores=stale)
learnt=(--objective siglip)
all=160 # steps

# others RUN STAGE... : starts these stages; their PIDs are in $stages
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

# train RUN OPTIONS... : a trainer to its end
train() {
    "$BIN/foil-train" -r "$work/$1" "${options[@]}" "${@:2}"
}

# start RUN OPTIONS... : starts $trainer and waits for its first checkpoint
start() {
    "$BIN/foil-train" -r "$work/$1" "${options[@]}" "${@:2}" \
        2>>"$work/$1/train.err" &
    trainer=$!
    becomes_true test -e "$work/$1/latest"
}

# stop SIGNAL PID : sends it; returns the exit code of PID
stop() {
    kill "-$1" "$2"
    wait "$2" 2>/dev/null
}

# midway RUN : not all steps are trained
midway() {
    test "$(steps "$1")" -lt "$all"
}

end_stages() {
    kill "${stages[@]}" 2>/dev/null
    wait "${stages[@]}" 2>/dev/null
    stages=()
}

# ------------------------------------- runs with one fault each

# undisturbed RUN OPTIONS... : a run; the run `served` has a negatives service
undisturbed() {
    others "$1" select augment
    [[ $1 != served ]] || others "$1" negatives
    expect 'exit code 0' train "$@"
    expect 'all its steps' test "$(steps "$1")" -eq "$all"
}

# trainer_killed RUN OPTIONS... : the trainer is killed and resumed; the others go on
trainer_killed() {
    others "$1" select augment augment
    start "$@"
    stop KILL "$trainer"
    expect 'a kill before the last step' midway "$1"
    expect 'exit code 0 after --resume' train "$@" --resume
}

trainer_stopped() {
    others stopped select augment
    start stopped "${stateful[@]}"
    expect 'exit code 0 after SIGTERM' stop TERM "$trainer"
    expect 'a stop before the last step' midway stopped
    end_stages
    others stopped select augment
    expect 'exit code 0 after --resume' train stopped --resume
}

feeders_killed() {
    others fed select augment augment
    start fed "${stateful[@]}"
    stop KILL "${stages[1]}"
    stop KILL "${stages[0]}"
    expect 'a trainer that continues without feeders' kill -0 "$trainer"
    others fed select
    expect 'exit code 0' wait "$trainer"
}

service_killed() {
    others again select augment negatives
    start again "${served[@]}"
    stop KILL "${stages[2]}"
    others again negatives
    expect 'a step with the new service' \
        becomes_true has_steps again $(($(steps again) + 1))
    stop KILL "$trainer"
    expect 'a kill before the last step' midway again
    expect 'exit code 0 after --resume' train again "${served[@]}" --resume
}

# same WHAT RUN RUN : checks that checkpoints and metrics are equal
same() {
    ok "$1: the same checkpoint" \
        diff -r "$work/$2/latest/" "$work/$3/latest/"
    ok "$1: the same metrics" diff <(timeless "$2") <(timeless "$3")
}

stages=()
ok 'foil-data generate makes a data set' \
    "$BIN/foil-data" generate --size 16 -o "$work/set.tar" 64
ok 'foil-data index makes its index' "$BIN/foil-data" index "$work/set.tar"

# several at a time, since they mostly wait
start_job calm undisturbed calm "${stateful[@]}"
start_job killed trainer_killed killed "${stateful[@]}"
start_job stopped trainer_stopped
ok 'an undisturbed run succeeds' job_ok calm
ok 'the trainer is killed and resumed: the run ends' \
    job_ok killed
start_job fed feeders_killed
start_job served undisturbed served "${served[@]}"
same 'the trainer is killed and resumed' calm killed
ok 'SIGTERM to the trainer: all stages are restarted and the run ends' job_ok stopped
same 'SIGTERM to the trainer' calm stopped
start_job again service_killed
ok 'augmenter and selector are killed: the run ends' \
    job_ok fed
same 'augmenter and selector are killed' calm fed
start_job inside undisturbed inside "${inside[@]}"
start_job within trainer_killed within "${inside[@]}"
ok 'an undisturbed run with a negatives service succeeds' job_ok served
ok 'the service is restarted, then the trainer killed: the run ends' \
    job_ok again
same 'the service is restarted, then the trainer killed' served again
ok "an undisturbed run with the trainer's own chains succeeds" job_ok inside
ok 'a trainer with its own chains is killed and resumed: the run ends' job_ok within
same 'a trainer with its own chains is killed' inside within
start_job learnt undisturbed learnt "${learnt[@]}"
start_job cut trainer_killed cut "${learnt[@]}"
ok 'an undisturbed run with a learnt temperature succeeds' job_ok learnt
ok 'the learnt temperature changes' \
    test "$(jq -r .tau "$work/learnt/metrics.jsonl" | sort -u |
    wc -l)" -gt 20
ok 'a trainer with a learnt temperature is killed: the run ends' job_ok cut
same 'a trainer with a learnt temperature is killed' learnt cut
done_testing
