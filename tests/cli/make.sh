#!/usr/bin/env bash
# How many commands make runs in parallel, and goals that make runs one after the other.
# Not for sanitizers: only make.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
cd "${0%/*}/../.." || exit

# by_hand WORD... : make as from a terminal
by_hand() {
    env -u MAKELEVEL -u MFLAGS MAKEFLAGS="${flags-}" make --no-print-directory "$@"
}

# jobs_are N WORD... : make runs N commands in parallel
jobs_are() {
    by_hand "${@:2}" print-MAKEFLAGS >"$work/flags"
    cat "$work/flags"
    grep -qE -- "(^| )-j$1( |\$)" "$work/flags"
}

ok 'make without -j uses all processors' jobs_are "$(nproc)"
ok 'make -j1 runs one command' jobs_are 1 -j1
ok 'make -j3 runs three commands' jobs_are 3 -j3
flags=-j5
ok 'make takes -j of the environment' jobs_are 5
flags=

# each goal fails if the other one runs at the same time
alone="; mkdir '$work/lock' && sleep 0.2 && rmdir '$work/lock'"
ok 'make runs goals one after the other' by_hand -j2 print-A print-C A="$alone" C="$alone"
ok 'make stops after the first goal that fails' exits 2 \
    by_hand print-A print-C A='; false' C="; >'$work/ran'"
ok 'make does not run the goal after one that failed' test ! -e "$work/ran"
ok 'make passes variables and options to each goal' \
    by_hand -s V=1 print-V print-V B=asan print-OUT
ok 'each goal gets the value of its variable' grep -qx 'build/asan' "$work/out"
done_testing
