#!/usr/bin/env bash
# foil-negatives --weigh-command: weights by a user's program are the same, bit for bit,
# whichever process is killed; wrong answers are reported.
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

kinds=(perl)
# shellcheck disable=SC2034 # by its name
perl="perl '$examples/weigh.pl'" numpy="/usr/bin/python3 '$examples/weigh.py'"
if has_python numpy; then kinds+=(numpy); fi
for kind in "${kinds[@]}"; do
    pids=$work/$kind.program
    start_job "calm-$kind" weighs "calm-$kind" --weigh-command "${!kind}"
    start_job "killed-$kind" weighs_killed "killed-$kind" "$pids" \
        --weigh-command "echo \$\$ >>'$pids'; exec ${!kind}"
done
killed_as_calm weights "${kinds[@]}"
[[ ${#kinds[@]} -eq 1 ]] || ok 'metrics have the numbers of the program' \
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
# ends_with PATTERN COMMAND OPTION... : the run ends with 1 and an error that matches
ends_with() {
    exits 1 fails "${@:2}" >"$work/result" 2>&1
    cat "$work/result"
    grep -qE "foil-train: .*weights: $1" "$work/result"
}
ok 'a missing program ends the run with its error' \
    ends_with '.* code 127.*no such command' /none/such
ok 'an error of the program ends the run' \
    ends_with 'no weights today' 'read x; echo error no weights today'
ok 'an invalid answer ends the run' \
    ends_with ".* answered 'hello' where 'ok' or" 'read x; echo hello'
ok 'endless lines end the run' \
    ends_with ".* answered 'y' where 'ok' or" 'read x; exec yes'
ok 'an endless line ends the run' ends_with '.* answered a line of over 4096 bytes' \
    'read x; exec tr "\0" x </dev/zero'
ok 'endless messages end the run' \
    ends_with '.* did not answer in time' 'read x; yes >&2; :' \
    --command-limit 0.2
ok 'rows that do not sum to 1 end the run' \
    ends_with '.* wrote a row 0 that sums to 0: want 1' \
    'read x; echo ok'
ok 'an answer that is not NAME=NUMBER ends the run' \
    ends_with ".* answered 'x': want up to 16 NAME=NUMBER" \
    "perl -e '<>; open F, qq(+<), \$ENV{FOIL_MEMORY}; for (1 .. 16)
    { syswrite F, pack q(f*), (1, (0) x 15) } print qq(ok y=3 x\n)'"
ok 'a negative weight ends the run' ends_with '.* wrote -1 in row 0, column 0' \
    "perl -e '<>; open F, qq(+<), \$ENV{FOIL_MEMORY}; syswrite F, pack q(f*), (-1, 2);
    print qq(ok\n)'"
ok 'no answer before --command-limit ends the run' \
    ends_with '.* did not answer in time' 'read x; sleep 1000' \
    --command-limit 0.2
ok '--weigh-command with --filter exits with 2' refuses 2 'omit --filter' \
    "$BIN/foil-negatives" -r "$work/x" --weigh-command x --filter
ok '--weigh-command with --proposals exits with 2' \
    refuses 2 'takes the place of --method' \
    "$BIN/foil-negatives" -r "$work/x" --weigh-command x --proposals ,burn-in=3
ok '--command-limit without --weigh-command exits with 2' \
    refuses 2 'belongs to --weigh-command' \
    "$BIN/foil-negatives" -r "$work/x" --command-limit 3

# A program that takes longer than the time after which a silent peer is dropped; SIGTERM
# ends the service during its second answer.
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
ok 'a slow program is waited for; SIGTERM then exits with 0' slow
done_testing
