# Sourced after tap.sh and runs.sh by tests of stages that run a user's command.
# The tests train on $data and kill stages.
# shellcheck shell=bash disable=SC2154,SC2034 # some names are the caller's
examples=$(cd "${BASH_SOURCE[0]%/*}/../pipelines/commands" && pwd)
epochs=3 stages=()

# train RUN OPTION... : start foil-train in the background; its PID is in $trainer
train() {
    mkdir -p "$work/$1"
    "$BIN/foil-train" -r "$work/$1" --arch linear --head 1024-16 --lr 0.1 \
        --warmup 0 --seed 5 --threads 1 --checkpoint-every 25 --deadline 60 \
        "${@:2}" 2>>"$work/$1/log" &
    trainer=$!
}

# augment RUN OPTION... , plan RUN OPTION... , weigh RUN OPTION... : start the other
# stages; their PIDs are in $augmenter, $selector, $weigher
augment() {
    "$BIN/foil-augment" -r "$work/$1" --seed 5 --size 8 "${@:2}" "$data" \
        2>>"$work/$1/log" &
    augmenter=$!
    stages+=($!)
}
plan() {
    "$BIN/foil-select" -r "$work/$1" --seed 5 --batch 8 --epochs "$epochs" \
        "${@:2}" "$data" 2>>"$work/$1/log" &
    selector=$!
    stages+=($!)
}
weigh() {
    "$BIN/foil-negatives" -r "$work/$1" "${@:2}" 2>>"$work/$1/log" &
    weigher=$!
}

# ends RUN : the trainer exits with 0, and then the other stages exit
ends() {
    local code=0 pid
    wait "$trainer" || code=$?
    [[ $code -eq 0 ]] || kill "${stages[@]}" 2>/dev/null
    for pid in "${stages[@]}"; do
        becomes_true gone "$pid" || { kill "$pid"; echo "left: $pid"; code=1; }
    done
    cat "$work/$1/log"
    stages=()
    return "$code"
}

# like CALM RUN : both runs have the same checkpoint and metrics
like() {
    diff -r "$work/$1/latest/" "$work/$2/latest/" &&
        diff <(timeless "$1") <(timeless "$2")
}

# killed_as_calm NAME KIND... : for each KIND, the background jobs calm-KIND and
# killed-KIND end with the same result; the log calls the stage's program NAME
killed_as_calm() {
    local kind
    for kind in "${@:2}"; do
        ok "$kind: a run without kills succeeds" job_ok "calm-$kind"
        ok "$kind: the run without kills trains every step" \
            test "$(steps "calm-$kind")" -eq $((epochs * 32))
        ok "$kind: the run continues after SIGKILL" job_ok "killed-$kind"
        ok "$kind: the killed run gives the same bits" like "calm-$kind" "killed-$kind"
        ok "$kind: the stage restarts the killed program" \
            grep -q "$1: .*ended by signal 9.*: it is started again" \
            "$work/killed-$kind/log"
    done
}

# weighs RUN OPTION... : an undisturbed run with that service
weighs() {
    train "$1" --objective emc2
    augment "$1"
    plan "$1"
    weigh "$@"
    ends "$1" && kill -TERM "$weigher" && wait "$weigher"
}
# weighs_killed RUN PIDS OPTION... : the service, its program, the trainer, and both stages
# are killed; the program's PID is the last line of the file PIDS
weighs_killed() {
    local run=$1 pids=$2
    shift 2
    train "$run" --objective emc2
    augment "$run"
    plan "$run"
    weigh "$run" "$@"
    expect 'at step 10' reaches "$run" 10
    kill_now "$weigher"
    weigh "$run" "$@"
    expect 'at step 30' reaches "$run" 30
    kill -9 "$(tail -n 1 "$pids")"
    expect 'a restart of the program' \
        becomes_true grep -q 'it is started again' "$work/$run/log"
    expect 'at step 45' reaches "$run" 45
    kill_now "$trainer"
    train "$run" --objective emc2 --resume
    expect 'at step 70' reaches "$run" 70
    kill_now "$trainer" "$weigher"
    weigh "$run" "$@"
    train "$run" --objective emc2 --resume
    ends "$run" && kill -TERM "$weigher" && wait "$weigher"
}
