#!/usr/bin/env bash
# foil-eval follow --eval-command: checkpoints judged by a program of the user's.
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
ok 'a run of four checkpoints' trained curve --arch linear,hidden=6 \
    --head none --checkpoint-every 1 --keep 9

# follow OPTION... : what is there is judged; judged FILTER : so says jq of all results
follow() {
    "$eval" follow -r curve --once "$@"
}
judged() {
    jq -se "map(select(.measure == \"command\")) | $1" curve/results.jsonl
}
# shellcheck disable=SC2016 # of sh
fair='while read -r x step at; do test -d "$at" || exit 9
    echo "{\"accuracy\": 0.${step#step=}, \"step\": 7}"; echo ok; done'
ok 'a program judges alone' follow --eval-command "$fair"
ok 'a line for each checkpoint' test \
    "$(jq -r '"\(.step):\(.command):\(.best)"' "$work/out" | xargs)" = \
    '1:0.1:1 2:0.2:2 3:0.3:3 4:0.4:4'
ok 'its answers are results of the run' judged \
    'map([.step, .accuracy, .manifest != null, .time > 0]) ==
    [range(1; 5) | [., . / 10, true, true]]'
ok 'the best is by it' test "$(readlink curve/best)" = step-00000004
ok 'foil-runs shows them' bash -c "'$BIN/foil-runs' curve | grep command"
ok 'again, there is nothing to do' bash -c \
    "test -z \"\$('$eval' follow -r curve --once --eval-command ${fair@Q})\""
ok 'another program is another matter' follow --eval-command "$fair # too"
ok 'with results of its own' judged 'length == 8'
ok 'it judges beside the others' follow --eval-command "${fair/0\./0.9}" \
    --best command half.foil other.foil
ok 'all of them' jq -se 'length == 4 and all(.knn and .probe and .command > 0.9)' \
    "$work/out"
rm curve/best
ok 'one that has no accuracy' follow --eval-command 'while read -r x; do
    echo "{\"lengths\": 1}"; echo ok; done'
ok 'names no best' jq -se 'length == 4 and all(has("best") | not)' "$work/out"
ok 'and links none' test ! -e curve/best
ok 'where that is asked for: 1' refuses 1 "no number 'accuracy', which --best command" \
    follow --best command --eval-command 'while read -r x; do
    echo "{\"length\": 1}"; echo ok; done'
ok 'features by a shell script' follow --eval-command \
    "sh '$examples/judge.sh' set.tar"
ok 'as results' judged '.[-4:] | all(.uniformity < 0)'
if has_python numpy; then
    ok 'weights by NumPy' follow --eval-command \
        "/usr/bin/python3 '$examples/judge.py'"
    ok 'as results' judged '.[-4:] | all(.lengths | add > 0)'
else
    skip 'weights by NumPy' 'no python3-numpy'
fi

# killed while it is judged: neither is anything lost nor left
rm curve/results.jsonl
slow="echo \$\$ >program; ${fair/test -d/sleep 0.2; test -d}"
"$eval" follow -r curve --once --eval-command "$slow" >/dev/null 2>&1 &
follower=$!
becomes_true grep -qs command curve/results.jsonl
kill -9 "$follower"
{ wait "$follower"; } 2>/dev/null
ok 'the program of a follower that was killed goes' becomes_true gone "$(<program)"
ok 'what was killed can be started again' follow --eval-command "$slow"
ok 'and misses nothing' judged 'map(.step) | unique == [1, 2, 3, 4]'
rm curve/results.jsonl
once='if test -e once; then '"$fair"'; else read x; : >once; exit 3; fi'
ok 'a program that ends is started again' follow --eval-command "$once"
ok 'for the same checkpoint' judged 'map(.step) == [1, 2, 3, 4]'

# wrong PATTERN COMMAND OPTION... : it ends with 1
wrong() {
    refuses 1 "^foil-eval follow: judge: .*$1" follow --eval-command "${@:2}"
}
ok 'one that is not there: 1' wrong 'code 127.*no such command' /none/such
ok 'its own error: 1' wrong 'no judge today' 'read x; echo error no judge today'
ok 'what is no JSON: 1' wrong 'which is no object in JSON' 'read x; echo good; echo ok'
ok 'no object: 1' wrong 'which is no object in JSON' 'read x; echo 7; echo ok'
ok 'none: 1' wrong 'answered no line of JSON' 'read x; echo ok'
ok 'two: 1' wrong 'more than 1 line' 'read x; echo "{}"; echo "{}"; echo ok'
ok 'lines without end: 1' wrong 'more than 1 line' 'read x; exec yes "{}"'
ok 'a line without end: 1' wrong 'answered a line of over 1048576 bytes' \
    'read x; exec tr "\0" x </dev/zero'
ok 'messages without end: 1' wrong 'did not answer in time' 'read x; yes >&2; :' \
    --command-limit 0.2
ok 'no answer in time: 1' wrong 'did not answer in time' 'read x; sleep 1000' \
    --command-limit 0.2
"$eval" follow -r curve --eval-command 'read x; echo >asked; sleep 1000' \
    >said 2>&1 &
follower=$!
waits_for asked
kill -TERM "$follower"
ok 'SIGTERM while it judges ends well: 0' wait "$follower"
ok 'nothing to judge by: 2' refuses 2 'wants TEST or --eval-command' \
    "$eval" follow -r curve
ok 'a limit of no command: 2' refuses 2 'belongs to --eval-command' \
    "$eval" follow -r curve --command-limit 3 set.tar
ok 'nothing for --best: 1' refuses 1 'do not suffice for --best command' \
    "$eval" follow -r curve --best command half.foil other.foil
done_testing
