# Sourced after tap.sh and runs.sh by tests of stages with a command behind them:
# runs of $data whose stages are killed.
# shellcheck shell=bash disable=SC2154,SC2034 # some names are the caller's
examples=$(cd "${BASH_SOURCE[0]%/*}/../pipelines/commands" && pwd)
epochs=3 stages=()

# train RUN OPTION... : in the background, its number in $trainer
train() {
    mkdir -p "$work/$1"
    "$BIN/foil-train" -r "$work/$1" --arch linear --head 1024-16 --lr 0.1 \
        --warmup 0 --seed 5 --threads 1 --checkpoint-every 25 --deadline 60 \
        "${@:2}" 2>>"$work/$1/log" &
    trainer=$!
}

# augment RUN OPTION... , plan RUN OPTION... , weigh RUN OPTION... : the same, in
# $augmenter, $selector, $weigher
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

# ends RUN : the trainer ends well, and with it the others
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

# like CALM RUN : checkpoint and metrics are the same
like() {
    diff -r "$work/$1/latest/" "$work/$2/latest/" &&
        diff <(timeless "$1") <(timeless "$2")
}

# killed_as_calm NAME KIND... : the runs calm-KIND and killed-KIND that were begun
# end alike; NAME is that of the stage's program in its log
killed_as_calm() {
    local kind
    for kind in "${@:2}"; do
        ok "$kind: an undisturbed run" ended "calm-$kind"
        ok "$kind: with all its steps" \
            test "$(steps "calm-$kind")" -eq $((epochs * 32))
        ok "$kind: killed, the run goes on" ended "killed-$kind"
        ok "$kind: to the same bits" like "calm-$kind" "killed-$kind"
        ok "$kind: whose program was started again" \
            grep -q "$1: .*ended by signal 9.*: it is started again" \
            "$work/killed-$kind/log"
    done
}
