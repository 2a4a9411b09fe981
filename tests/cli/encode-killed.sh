#!/usr/bin/env bash
# foil.encode(): runs that are killed three times and resumed have the result of
# undisturbed ones, to the byte.
# Mostly waits, 20 s
# Not for sanitizers: kills are in faults.sh, its stages in encode.sh.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/encoders.sh
. "${0%/*}/../encoders.sh"
select_with=(--batch 16 --epochs 20)
train_with=(--lr 0.05 --warmup 0 --checkpoint-every 10 --accumulate 3 --average-last 0.9)

# killed RUN OPTION... : kill and resume the trainer three times; the other stages go on
killed() {
    local run=$1 at resume=()
    foil-augment -r "$run" "${augment_with[@]}" "$data" 2>"$run.augment" &
    foil-select -r "$run" "${select_with[@]}" "$data" 2>"$run.select" &
    for at in 13 34 55 80; do
        foil-train -r "$run" --threads 1 --deadline 60 "${train_with[@]}" \
            "${@:2}" "${resume[@]}" --encoder "$encoder" 2>>"$run.err" &
        trainer=$!
        [[ $at -lt 80 ]] || break
        reaches "$run" "$at" || { cat "$run.err"; return 1; }
        kill_now "$trainer"
        resume=(--resume)
    done
    wait "$trainer" || { cat "$run.err"; return 1; }
}

for objective in isogclr emc2 own; do
    options=(--objective "$objective") encoder="$program dropout"
    [[ $objective != emc2 ]] || options+=(--sampler trainer)
    # its loss is a module
    [[ $objective != own ]] || encoder="${program/encoders.py/siamese.py} encode"
    ok "$objective: an undisturbed run succeeds" \
        trained "$objective-calm" --encoder "$encoder" \
        "${options[@]}"
    ok "$objective: a run with three kills of the trainer succeeds" \
        killed "$objective-killed" "${options[@]}"
    ok "$objective: the killed run has each step once, with the same losses" \
        diff <(timeless "$objective-calm") <(timeless "$objective-killed")
    ok "$objective: the killed run has the same checkpoint, to the byte" \
        diff -r "$objective-calm/latest/" "$objective-killed/latest/"
done
done_testing
