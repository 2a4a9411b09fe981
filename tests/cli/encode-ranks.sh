#!/usr/bin/env bash
# foil.encode(ranks=W): the losses do not depend on the number of processes, and the death
# of one process ends the run.
# Not for sanitizers: its stages are in encode.sh, the rest is Python.
# Mostly waits, 20 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/encoders.sh
. "${0%/*}/../encoders.sh"
# ranks start themselves, so the warm Python cannot fork them
program="/usr/bin/python3 '$encoders'"

# none_left WORD : no process of this test has it in its command line
none_left() {
    local pid
    for pid in $(pgrep -f "$1"); do
        [[ $(readlink "/proc/$pid/cwd") != "$work" ]] || return
    done
}

ok 'two ranks train in micro-batches' torch micro 'linear ranks=2' --micro-batch 5
ok 'two ranks have the losses of one' alike simclr micro
ok 'four ranks train' torch four 'linear ranks=4'
ok 'four ranks have the losses of one' alike simclr four
ok 'four ranks compute features, also of fewer images than ranks' foil-embed -o four.npy \
    --batch 21 --encoder "$program linear ranks=4" four "$data"
ok 'foil computes the features of the same weights' foil-embed -o one.npy four "$data"
ok 'both are equal up to rounding' arrays one.npy four.npy
ok 'three ranks train, with row sums by one of them' \
    torch sums 'linear ranks=3 sums=1'
ok 'three ranks have the losses of one' alike simclr sums
# a rank kills itself in its third step
for rank in 0 1; do
    ok "the run exits with 1 if rank $rank dies" \
        exits 1 torch "dies-$rank" "linear ranks=2 dies=$rank"
done
ok 'the error names the rank that died' \
    grep -q 'encoder: rank 1 ended by signal 9' dies-1.err
ok 'the error names the signal if rank 0 died' \
    grep -qE 'ended (by signal 9|with code 137)' dies-0.err
# a rank stops itself
for rank in 0 1; do
    ok "the run exits with 1 if rank $rank stops" exits 1 torch "stops-$rank" \
        "linear ranks=2 stops=$rank" --command-limit 12
    ok "the error says that the encoder did not answer (rank $rank stopped)" \
        grep -q 'encoder: .* did not answer in time' "stops-$rank.err"
    ok "no process is left after rank $rank stopped" becomes_true none_left "stops=$rank"
done
done_testing
