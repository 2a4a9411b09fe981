#!/usr/bin/env bash
# foil-eval follow --eval-command: a user's program evaluates checkpoints.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
examples=$(cd "${0%/*}/../../pipelines/commands" && pwd)
export PATH=$BIN:$PATH
cd "$work" || exit 1
small_set
"$BIN/foil-data" split --share 0.5 set.tar half.foil other.foil 2>/dev/null
ok 'a run of four checkpoints succeeds' trained curve --arch linear,hidden=6 \
    --head none --checkpoint-every 1 --keep 9

# follow OPTION... : evaluates the checkpoints of the run
# judged FILTER : the jq filter is true for the results of commands
follow() {
    "$eval" follow -r curve --once "$@"
}
judged() {
    jq -se "map(select(.measure == \"command\")) | $1" curve/results.jsonl
}
# shellcheck disable=SC2016 # of sh
fair='while read -r x step at; do test -d "$at" || exit 9
    echo "{\"accuracy\": 0.${step#step=}, \"step\": 7}"; echo ok; done'
ok 'follow with only --eval-command succeeds' follow --eval-command "$fair"
ok 'follow prints a line for each checkpoint' test \
    "$(jq -r '"\(.step):\(.command):\(.best)"' "$work/out" | xargs)" = \
    '1:0.1:1 2:0.2:2 3:0.3:3 4:0.4:4'
ok 'results.jsonl has the answers of the program' judged \
    'map([.step, .accuracy, .manifest != null, .time > 0]) ==
    [range(1; 5) | [., . / 10, true, true]]'
ok 'best is chosen by the accuracy of the program' \
    test "$(readlink curve/best)" = step-00000004
ok 'foil-runs shows results of the program' \
    bash -c "'$BIN/foil-runs' curve | grep command"
ok 'follow does nothing if all checkpoints have results' bash -c \
    "test -z \"\$('$eval' follow -r curve --once --eval-command ${fair@Q})\""
ok 'another program evaluates the checkpoints again' follow --eval-command "$fair # too"
ok 'results.jsonl has the answers of both programs' judged 'length == 8'
ok 'a program evaluates in addition to knn and probe' \
    follow --eval-command "${fair/0\./0.9}" \
    --best command half.foil other.foil
ok 'follow prints results of knn, probe and program' \
    jq -se 'length == 4 and all(.knn and .probe and .command > 0.9)' \
    "$work/out"
rm curve/best
ok 'a program without accuracy evaluates' follow --eval-command 'while read -r x; do
    echo "{\"lengths\": 1}"; echo ok; done'
ok 'follow chooses no best without accuracy' \
    jq -se 'length == 4 and all(has("best") | not)' "$work/out"
ok 'follow links no best without accuracy' test ! -e curve/best
ok '--best command without accuracy exits with 1' \
    refuses 1 "no number 'accuracy', which --best command" \
    follow --best command --eval-command 'while read -r x; do
    echo "{\"length\": 1}"; echo ok; done'
ok 'judge.sh evaluates features' follow --eval-command \
    "sh '$examples/judge.sh' set.tar"
ok 'results.jsonl has the answers of judge.sh' judged '.[-4:] | all(.uniformity < 0)'
if has_python numpy; then
    ok 'judge.py evaluates weights' follow --eval-command \
        "/usr/bin/python3 '$examples/judge.py'"
    ok 'results.jsonl has the answers of judge.py' \
        judged '.[-4:] | all(.lengths | add > 0)'
else
    skip 'judge.py evaluates weights' 'no python3-numpy'
fi

# follow is killed during an evaluation: no result is lost, no process is left
rm curve/results.jsonl
slow="echo \$\$ >program; ${fair/test -d/sleep 0.2; test -d}"
"$eval" follow -r curve --once --eval-command "$slow" >/dev/null 2>&1 &
follower=$!
becomes_true grep -qs command curve/results.jsonl
kill -9 "$follower"
{ wait "$follower"; } 2>/dev/null
ok 'the program of follow ends after SIGKILL of follow' becomes_true gone "$(<program)"
ok 'follow restarts after SIGKILL' follow --eval-command "$slow"
ok 'follow after SIGKILL evaluates every checkpoint' \
    judged 'map(.step) | unique == [1, 2, 3, 4]'
rm curve/results.jsonl
once='if test -e once; then '"$fair"'; else read x; : >once; exit 3; fi'
ok 'follow restarts a program that ends' follow --eval-command "$once"
ok 'a restarted program evaluates the same checkpoint' judged 'map(.step) == [1, 2, 3, 4]'

# wrong PATTERN COMMAND OPTION... : follow exits with 1 and an error that matches
wrong() {
    refuses 1 "^foil-eval follow: judge: .*$1" follow --eval-command "${@:2}"
}
ok 'a missing program exits with 1' wrong 'code 127.*no such command' /none/such
ok 'an error of the program exits with 1' \
    wrong 'no judge today' 'read x; echo error no judge today'
ok 'an answer that is not JSON exits with 1' \
    wrong 'which is no object in JSON' 'read x; echo good; echo ok'
ok 'an answer that is not a JSON object exits with 1' \
    wrong 'which is no object in JSON' 'read x; echo 7; echo ok'
ok 'an empty answer exits with 1' wrong 'answered no line of JSON' 'read x; echo ok'
ok 'an answer of two lines exits with 1' \
    wrong 'more than 1 line' 'read x; echo "{}"; echo "{}"; echo ok'
ok 'an endless answer exits with 1' wrong 'more than 1 line' 'read x; exec yes "{}"'
ok 'an endless line exits with 1' wrong 'answered a line of over 1048576 bytes' \
    'read x; exec tr "\0" x </dev/zero'
ok 'endless messages exit with 1' wrong 'did not answer in time' 'read x; yes >&2; :' \
    --command-limit 0.2
ok 'an answer after --command-limit exits with 1' \
    wrong 'did not answer in time' 'read x; sleep 1000' \
    --command-limit 0.2
"$eval" follow -r curve --eval-command 'read x; echo >asked; sleep 1000' \
    >asked.err 2>&1 &
follower=$!
waits_for asked
kill -TERM "$follower"
ok 'follow exits with 0 after SIGTERM during an evaluation' wait "$follower"
ok 'follow without TEST and --eval-command exits with 2' \
    refuses 2 'needs TEST or --eval-command' \
    "$eval" follow -r curve
ok '--command-limit without --eval-command exits with 2' \
    refuses 2 'belongs to --eval-command' \
    "$eval" follow -r curve --command-limit 3 set.tar
ok '--best command without --eval-command exits with 1' \
    refuses 1 'do not suffice for --best command' \
    "$eval" follow -r curve --best command half.foil other.foil
done_testing
