#!/usr/bin/env bash
# foil-negatives --weigh-command: weights by a program of the user's, the same to
# the bit whatever is killed; what it does wrongly is told.
# Mostly waits, 10 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/commands.sh
. "${0%/*}/../commands.sh"
export OMP_NUM_THREADS=1

# 32 steps an epoch
data=$work/data.tar
"$BIN/foil-data" generate -o "$data" --size 16 256 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# whole RUN COMMAND
whole() {
    train "$1" --objective emc2
    augment "$1"
    plan "$1"
    weigh "$1" --weigh-command "$2"
    ends "$1" && kill -TERM "$weigher" && wait "$weigher"
}

# killed RUN COMMAND : the service, its program, the trainer, both
killed() {
    local pid="echo \$\$ >>'$work/$1.program'; exec $2"
    train "$1" --objective emc2
    augment "$1"
    plan "$1"
    weigh "$1" --weigh-command "$pid"
    expect 'at step 10' past "$1" 10
    kill_now "$weigher"
    weigh "$1" --weigh-command "$pid"
    expect 'at step 30' past "$1" 30
    kill -9 "$(tail -n 1 "$work/$1.program")"
    expect 'its program again' becomes_true grep -q 'it is started again' "$work/$1/log"
    expect 'at step 45' past "$1" 45
    kill_now "$trainer"
    train "$1" --objective emc2 --resume
    expect 'at step 70' past "$1" 70
    kill_now "$trainer" "$weigher"
    weigh "$1" --weigh-command "$pid"
    train "$1" --objective emc2 --resume
    ends "$1" && kill -TERM "$weigher" && wait "$weigher"
}
kinds=(perl)
# shellcheck disable=SC2034 # by its name
perl="perl '$examples/weigh.pl'" numpy="/usr/bin/python3 '$examples/weigh.py'"
if has_python numpy; then kinds+=(numpy); fi
for kind in "${kinds[@]}"; do
    begun "calm-$kind" whole "calm-$kind" "${!kind}"
    begun "killed-$kind" killed "killed-$kind" "${!kind}"
done
killed_as_calm weights "${kinds[@]}"
[[ ${#kinds[@]} -eq 1 ]] || ok 'its numbers are in the metrics' \
    jq -se 'all(.hardest > 0 and .hardest < 1.001)' "$work/calm-numpy/metrics.jsonl"

# fails COMMAND OPTION... : a run with that service, which the trainer ends
fails() {
    train fails --objective emc2
    augment fails
    plan fails
    weigh fails --weigh-command "$@"
    local code=0
    ends fails || code=$?
    kill "$weigher"
    wait "$weigher" || code=100
    rm -r "$work/fails"
    return "$code"
}
# says PATTERN COMMAND OPTION...
says() {
    exits 1 fails "${@:2}" >"$work/says" 2>&1
    cat "$work/says"
    grep -qE "foil-train: .*weights: $1" "$work/says"
}
ok 'one that is not there' says '.* code 127.*no such command' /none/such
ok 'its own error' says 'no weights today' 'read x; echo error no weights today'
ok 'what is no answer' says ".* answered 'hello' where 'ok' or" 'read x; echo hello'
ok 'lines without end' says ".* answered 'y' where 'ok' or" 'read x; exec yes'
ok 'a line without end' says '.* answered a line of over 4096 bytes' \
    'read x; exec tr "\0" x </dev/zero'
ok 'messages without end' says '.* did not answer in time' 'read x; yes >&2; :' \
    --command-limit 0.2
ok 'rows that do not sum to 1' says '.* wrote a row 0 that sums to 0: want 1' \
    'read x; echo ok'
ok 'words that are no numbers' says ".* answered 'x': want up to 16 NAME=NUMBER" \
    "perl -e '<>; open F, qq(+<), \$ENV{FOIL_MEMORY}; for (1 .. 16)
    { syswrite F, pack q(f*), (1, (0) x 15) } print qq(ok y=3 x\n)'"
ok 'a weight below zero' says '.* wrote -1 in row 0, column 0' \
    "perl -e '<>; open F, qq(+<), \$ENV{FOIL_MEMORY}; syswrite F, pack q(f*), (-1, 2);
    print qq(ok\n)'"
ok 'no answer in time' says '.* did not answer in time' 'read x; sleep 1000' \
    --command-limit 0.2
ok 'a filter beside it: 2' refuses 2 'omit --filter' \
    "$BIN/foil-negatives" -r "$work/x" --weigh-command x --filter
ok 'a method: 2' refuses 2 'takes the place of --method' \
    "$BIN/foil-negatives" -r "$work/x" --weigh-command x --proposals ,burn-in=3
ok 'a limit of no command: 2' refuses 2 'belongs to --weigh-command' \
    "$BIN/foil-negatives" -r "$work/x" --command-limit 3

# It takes longer than a peer may be silent, and is waited for; SIGTERM ends the
# service well meanwhile.
slow() {
    train slow --objective emc2
    augment slow
    plan slow
    weigh slow --weigh-command "read x; sleep 5
        perl -e 'open F, qq(+<), \$ENV{FOIL_MEMORY}; for (1 .. 16)
            { syswrite F, pack q(f*), (1, (0) x 15) }'
        echo ok; read x; echo >'$work/second'; sleep 1000"
    local code=0
    waits_for "$work/second" || code=1
    kill -TERM "$weigher"
    wait "$weigher" || code=1
    kill "$trainer" "${stages[@]}"
    wait "$trainer" "${stages[@]}" 2>/dev/null
    cat "$work/slow/log"
    return "$code"
}
ok 'a slow program is waited for, and SIGTERM ends the wait well: 0' slow
done_testing
