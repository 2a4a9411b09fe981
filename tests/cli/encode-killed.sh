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

for objective in isogclr emc2 own; do
    options=(--objective "$objective") encoder="$program dropout"
    [[ $objective != emc2 ]] || options+=(--sampler trainer)
    # its loss is a module
    [[ $objective != own ]] || encoder="${program/encoders.py/siamese.py} encode"
    ok "$objective: an undisturbed run succeeds" \
        trained "$objective-calm" --encoder "$encoder" \
        "${options[@]}"
    ok "$objective: a run with three kills of the trainer succeeds" \
        trained_killed "$objective-killed" "13 34 55 80" \
        --encoder "$encoder" "${options[@]}"
    ok "$objective: the killed run has each step once, with the same losses" \
        diff <(timeless "$objective-calm") <(timeless "$objective-killed")
    ok "$objective: the killed run has the same checkpoint, to the byte" \
        diff -r "$objective-calm/latest/" "$objective-killed/latest/"
done
done_testing
