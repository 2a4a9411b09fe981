#!/usr/bin/env bash
# How many commands make runs at once, and goals that must not run at once.
# Not for sanitizers: make alone.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
cd "${0%/*}/../.." || exit

# by_hand WORD... : make, as from a terminal
by_hand() {
    env -u MAKELEVEL -u MFLAGS MAKEFLAGS="${flags-}" make --no-print-directory "$@"
}

# jobs_are N WORD... : it runs N at once
jobs_are() {
    by_hand "${@:2}" print-MAKEFLAGS >"$work/flags"
    cat "$work/flags"
    grep -qE -- "(^| )-j$1( |\$)" "$work/flags"
}

ok 'without -j: all processors' jobs_are "$(nproc)"
ok '-j1: one' jobs_are 1 -j1
ok '-j3: three' jobs_are 3 -j3
flags=-j5
ok '-j of the environment' jobs_are 5
flags=

# each prints nothing and fails where the other one is at work
alone="; mkdir '$work/lock' && sleep 0.2 && rmdir '$work/lock'"
ok 'goals run one after the other' by_hand -j2 print-A print-C A="$alone" C="$alone"
ok 'the first that fails is the last' exits 2 \
    by_hand print-A print-C A='; false' C="; >'$work/ran'"
ok 'the next one has not run' test ! -e "$work/ran"
ok 'variables and options are for each' by_hand -s V=1 print-V print-V B=asan print-OUT
ok 'as they are for one' grep -qx 'build/asan' "$work/out"
done_testing
