#!/usr/bin/env bash
# foil eval follow: the checkpoints of a run are judged while it trains.
# Not for sanitizers: its verbs are in foil-eval.sh.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
cd "$work" || exit 1
small_set

# a run whose checkpoints all stay
"$BIN/foil-data" split --share 0.5 set.tar half.foil other.foil 2>/dev/null
# probed RUN : the steps whose probe is in the results
probed() {
    jq -r 'select(.measure == "probe") | .step' "$1/results.jsonl" | xargs
}
ok 'a run of four checkpoints' trained curve --arch linear,hidden=6 \
    --head none --checkpoint-every 1 --keep 9
ok 'is followed to its end' bash -c \
    "'$eval' follow -r curve -k 1,3 half.foil other.foil >curve.jsonl"
ok 'a line each, from the oldest' test "$(jq .step curve.jsonl | xargs)" = '1 2 3 4'
ok 'their results are in the run' test "$(probed curve)" = '1 2 3 4'
ok 'with all neighbours' test "$(jq -r 'select(.measure == "knn") |
    "\(.step):\(.k)"' curve/results.jsonl | xargs)" = \
    '1:1 1:3 2:1 2:3 3:1 3:3 4:1 4:3'
ok 'best is the first with the highest accuracy' test "$(readlink curve/best)" = \
    "$(jq -rs 'max_by([.knn, -.step]) | "step-0000000\(.step)"' curve.jsonl)"
ok 'nothing else is left in it' test ! -e curve/follow -a ! -e curve/judging
ok 'again, there is nothing to do' bash -c \
    "test -z \"\$('$eval' follow -r curve half.foil other.foil)\""
sed -i '/"measure":"probe","step":2/d; /"step":4/d' curve/results.jsonl
ok 'what has no result yet is judged' bash -c \
    "'$eval' follow -r curve -k 1,3 half.foil other.foil >again.jsonl"
ok 'and only that' test "$(jq .step again.jsonl | xargs)" = '2 4'
ok 'with the same figures' diff <(grep -E '"step":[24]' curve.jsonl |
    jq -c 'del(.best)') <(jq -c 'del(.best)' again.jsonl)
ok 'other data are another matter' bash -c \
    "'$eval' follow -r curve --once other.foil half.foil | wc -l | grep -x 4"
ok 'a run that is not there: 1' refuses 1 "there is no run 'nowhere'" \
    "$eval" follow -r nowhere half.foil other.foil
ok 'no run: 2' refuses 2 '-r is missing' "$eval" follow half.foil other.foil

# one in training, whose old checkpoints go; as from another machine: the
# folder by another name, events by tcp, and the end of the run by its last word
mkdir -m 700 live
ln -s live shared
events=$(endpoint 0)
"$eval" follow -r shared --events "$events" half.foil other.foil \
    >live.jsonl 2>live.said &
follower=$!
ok 'a follower waits for its run' becomes_true test -e live/follow
ok 'at the lowest priority' test "$(cut -d ' ' -f 19 "/proc/$follower/stat")" -eq 19
ok 'which has one: 1' refuses 1 "another foil-eval follows 'live'" \
    "$eval" follow -r live half.foil other.foil
"$BIN/foil-augment" -r live --size 16 set.tar 2>live.augment &
"$BIN/foil-select" -r live --batch 12 --epochs 1000000 set.tar 2>live.select &
"$BIN/foil-train" -r live --events "$events" --threads 1 \
    --arch linear,hidden=6 --head none --checkpoint-every 100 --keep 2 \
    2>live.train &
trainer=$!
three_judged() {
    test "$(wc -l <live.jsonl)" -ge 3
}
ok 'while it trains, checkpoints are judged' becomes_true three_judged
kill "$trainer"
wait "$trainer"
ok 'the follower ends with the run' wait "$follower"
cat live.said
# shellcheck disable=SC2016 # of bash
ok 'and has judged the last' bash -c \
    'test "$(readlink live/latest)" = \
    "$(tail -n 1 live.jsonl | jq -r ".step | tostring |
    \"step-\" + (\"00000000\" + .)[-8:]")"'
# shellcheck disable=SC2016 # of bash
ok 'the best is there, beside the two newest and one that was judged' bash -c \
    'test -e live/best/MANIFEST.json && test "$(ls -d live/step-* | wc -l)" -le 4'

# an evaluation that outlasts the run, with more events than the queues hold
mkdir -m 700 long
# shellcheck disable=SC2016 # of the program
"$eval" follow -r long --eval-command 'while read -r line; do : >asked
    until test -e ended; do sleep 0.1; done; echo "{\"accuracy\": 0.5}"; echo ok; done' \
    half.foil >long.jsonl 2>&1 &
follower=$!
"$BIN/foil-augment" -r long --size 8 set.tar 2>long.augment &
"$BIN/foil-select" -r long --batch 2 --epochs 1000000 set.tar 2>long.select &
"$BIN/foil-train" -r long --threads 1 --arch linear,hidden=2 --head none \
    --checkpoint-every 100 --keep 2 2>long.train &
trainer=$!
many_events() {
    test "$(wc -l <long/metrics.jsonl)" -ge 9000
}
ok 'an evaluation takes longer than 9,000 steps' becomes_true test -e asked -a \
    -e long/metrics.jsonl
ok 'which are trained' becomes_true many_events
kill "$trainer"
wait "$trainer"
: >ended
ok 'the follower ends with the run all the same' wait "$follower"

# killed while it judges, and started again
rm curve/results.jsonl
"$eval" follow -r curve half.foil other.foil >/dev/null 2>&1 &
follower=$!
becomes_true grep -qs probe curve/results.jsonl
kill -9 "$follower"
wait "$follower" 2>/dev/null
ok 'what was killed can be started again' \
    "$eval" follow -r curve half.foil other.foil
ok 'and misses nothing' test "$(probed curve | tr ' ' '\n' | sort -u | xargs)" = \
    '1 2 3 4'
rm curve/results.jsonl
"$eval" follow -r curve half.foil other.foil >/dev/null 2>&1 &
follower=$!
becomes_true test -e curve/judging
kill "$follower"
ok 'SIGTERM ends it well' wait "$follower"
ok 'and leaves nothing behind' test ! -e curve/follow -a ! -e curve/judging

# captions: what a run with an encoder of texts is judged by
"$BIN/foil-data" vocabulary -o words.txt set.tar 2>/dev/null
"$BIN/foil-augment" -r said --size 16 --views 1 --vocabulary words.txt set.tar \
    2>said.augment &
"$BIN/foil-select" -r said --batch 12 --epochs 2 set.tar 2>said.select &
ok 'a run of images and captions' "$BIN/foil-train" -r said --threads 1 \
    --deadline 60 --arch resnet8,width=4 --text bow:8 --embed 8 \
    --vocabulary words.txt --objective clip --checkpoint-every 1 --keep 9
wait
ok 'is followed, without a set that is learnt from' bash -c \
    "'$eval' follow -r said set.tar >said.jsonl"
ok 'by the recalls of captions' test "$(jq -s 'map(keys) | unique | add |
    join(" ")' said.jsonl)" = '"best captions step"'
ok 'the best is the first with the highest mean of them' test \
    "$(readlink said/best)" = \
    "$(jq -rs 'max_by([.captions, -.step]) | "step-0000000\(.step)"' said.jsonl)"
ok 'again, there is nothing to do' bash -c \
    "test -z \"\$('$eval' follow -r said set.tar)\""
ok 'with labels, by these, too' test "$("$eval" follow -r said --once -k 1 half.foil \
    other.foil | jq -s 'map(keys) | unique | add | join(" ")')" = \
    '"best captions knn probe step"'
ok 'foil runs shows the mean' bash -c \
    "'$BIN/foil-runs' said | jq -e '.results.captions.r_mean | numbers'"
ok 'no labels, no best by them: 1' refuses 1 'do not suffice for --best knn' \
    "$eval" follow -r said --best knn set.tar

done_testing
