#!/usr/bin/env bash
# foil.encode(ranks=W): the losses do not depend on how many processes compute them,
# and one that dies ends the run.
# Not for sanitizers: its stages are in encode.sh, the rest is Python.
# Mostly waits, 20 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/encoders.sh
. "${0%/*}/../encoders.sh"
# ranks are started by themselves
program="/usr/bin/python3 '$encoders'"

# none_left WORD : of the processes here whose command line has it
none_left() {
    local pid
    for pid in $(pgrep -f "$1"); do
        [[ $(readlink "/proc/$pid/cwd") != "$work" ]] || return
    done
}

ok 'two ranks, in micro-batches' torch micro 'linear ranks=2' --micro-batch 5
ok 'have the same losses' alike simclr micro
ok 'four ranks' torch four 'linear ranks=4'
ok 'have, too' alike simclr four
ok 'three, and products by one of them' torch products 'linear ranks=3 products=1'
ok 'have, too' alike simclr products
# the third step of one of them is its end
for rank in 0 1; do
    ok "rank $rank dies: 1" exits 1 torch "dies-$rank" "linear ranks=2 dies=$rank"
done
ok 'a sentence says which rank' grep -q 'encoder: rank 1 ended by signal 9' dies-1.err
ok 'or that the program did' \
    grep -qE 'ended (by signal 9|with code 137)' dies-0.err
# so is a process that stands still
for rank in 0 1; do
    ok "rank $rank stands still: 1" exits 1 torch "stops-$rank" \
        "linear ranks=2 stops=$rank" --command-limit 12
    ok 'a sentence says so' \
        grep -q 'encoder: .* did not answer in time' "stops-$rank.err"
    ok 'no process is left' becomes_true none_left "stops=$rank"
done
done_testing
