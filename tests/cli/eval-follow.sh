#!/usr/bin/env bash
# foil eval follow evaluates the checkpoints of a run while it trains.
# Not for sanitizers: its verbs are in foil-eval.sh.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
cd "$work" || exit 1
small_set

# a run that keeps all checkpoints
"$BIN/foil-data" split --share 0.5 set.tar half.foil other.foil 2>/dev/null
# probed RUN : prints the steps that have a result of the probe
probed() {
    jq -r 'select(.measure == "probe") | .step' "$1/results.jsonl" | xargs
}
ok 'a run of four checkpoints succeeds' trained curve --arch linear,hidden=6 \
    --head none --checkpoint-every 1 --keep 9
ok 'follow of a finished run exits with 0' bash -c \
    "'$eval' follow -r curve -k 1,3 half.foil other.foil >curve.jsonl"
ok 'follow prints a line for each checkpoint, oldest first' \
    test "$(jq .step curve.jsonl | xargs)" = '1 2 3 4'
ok 'results.jsonl has the probe of each checkpoint' test "$(probed curve)" = '1 2 3 4'
ok 'results.jsonl has knn of each checkpoint for each K' \
    test "$(jq -r 'select(.measure == "knn") |
    "\(.step):\(.k)"' curve/results.jsonl | xargs)" = \
    '1:1 1:3 2:1 2:3 3:1 3:3 4:1 4:3'
ok 'best is the first checkpoint with the highest accuracy' \
    test "$(readlink curve/best)" = \
    "$(jq -rs 'max_by([.knn, -.step]) | "step-0000000\(.step)"' curve.jsonl)"
ok 'follow leaves no temporary files' test ! -e curve/follow -a ! -e curve/judging
ok 'follow does nothing if all checkpoints have results' bash -c \
    "test -z \"\$('$eval' follow -r curve half.foil other.foil)\""
sed -i '/"measure":"probe","step":2/d; /"step":4/d' curve/results.jsonl
ok 'follow evaluates checkpoints without results' bash -c \
    "'$eval' follow -r curve -k 1,3 half.foil other.foil >again.jsonl"
ok 'follow evaluates only the checkpoints without results' \
    test "$(jq .step again.jsonl | xargs)" = '2 4'
ok 'follow gives the same figures again' diff <(grep -E '"step":[24]' curve.jsonl |
    jq -c 'del(.best)') <(jq -c 'del(.best)' again.jsonl)
ok 'follow with other data evaluates all checkpoints' bash -c \
    "'$eval' follow -r curve --once other.foil half.foil | wc -l | grep -x 4"
ok 'follow of a missing run exits with 1' refuses 1 "there is no run 'nowhere'" \
    "$eval" follow -r nowhere half.foil other.foil
ok 'follow without -r exits with 2' \
    refuses 2 '-r is missing' "$eval" follow half.foil other.foil

ok 'foil-train --checkpoint-epochs 1 saves each epoch' trained ends --arch linear,hidden=6 \
    --head none --checkpoint-every 0 --checkpoint-epochs 1 --keep 9
ok 'foil-train --checkpoint-epochs 1 saves no other step' \
    test "$(cd ends && echo step-*)" = 'step-00000002 step-00000004'

# some epochs, at the distance that is stored
mkdir curve/compare
printf 'every 1\nfrom 1\n' >curve/compare/pace
answers='while read -r line; do
    echo "{\"measure\": \"mine\", \"accuracy\": 0.5, \"text\": \"half\"}"; echo ok; done'
ok 'follow --share prints nothing' bash -c "test -z \"\$('$eval' follow -r curve --once \
    --share 2 --eval-command '$answers')\""
ok 'it evaluates the ends of epochs except for the last, under the name of the answer' \
    test \
    "$(jq -r 'select(.measure == "mine") | "\(.step) \(.epoch)"' curve/results.jsonl)" = '2 1'
ok 'it does so once' bash -c "'$eval' follow -r curve --once --share 2 \
    --eval-command '$answers' && test \"\$(grep -c mine curve/results.jsonl)\" = 1"
ok '--share with data exits with 2' refuses 2 'needs --eval-command, and no data' \
    "$eval" follow -r curve --share 2 half.foil other.foil
ok '--every without --share exits with 2' refuses 2 'belong to --share' \
    "$eval" follow -r curve --every 2 half.foil other.foil

# A run in training that deletes old checkpoints.  As on another machine: follow sees the
# folder by another name, gets events by tcp, and learns the end from the last event.
mkdir -m 700 live
ln -s live shared
events=$(endpoint 0)
"$eval" follow -r shared --events "$events" half.foil other.foil \
    >live.jsonl 2>live.err &
follower=$!
ok 'follow waits for a run that has not started' becomes_true test -e live/follow
ok 'follow has the lowest priority' \
    test "$(cut -d ' ' -f 19 "/proc/$follower/stat")" -eq 19
ok 'a second follow of the same run exits with 1' \
    refuses 1 "another foil-eval follows 'live'" \
    "$eval" follow -r live half.foil other.foil
"$BIN/foil-augment" -r live --size 16 set.tar 2>live.augment &
"$BIN/foil-select" -r live --batch 12 --epochs 1000000 set.tar 2>live.select &
"$BIN/foil-train" -r live --events "$events" --threads 1 \
    --arch linear,hidden=6 --head none --checkpoint-every 100 --keep 2 \
    2>live.train &
trainer=$!
three_evaluated() {
    test "$(wc -l <live.jsonl)" -ge 3
}
ok 'follow evaluates checkpoints while the run trains' becomes_true three_evaluated
kill "$trainer"
wait "$trainer"
ok 'follow exits with 0 at the end of the run' wait "$follower"
cat live.err
# shellcheck disable=SC2016 # of bash
ok 'follow evaluates the last checkpoint' bash -c \
    'test "$(readlink live/latest)" = \
    "$(tail -n 1 live.jsonl | jq -r ".step | tostring |
    \"step-\" + (\"00000000\" + .)[-8:]")"'
# shellcheck disable=SC2016 # of bash
ok 'the best checkpoint, the two newest and one evaluated remain' bash -c \
    'test -e live/best/MANIFEST.json && test "$(ls -d live/step-* | wc -l)" -le 4'

# an evaluation that takes longer than the run, with more events than the queues hold
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
ok 'an evaluation begins while the run trains' becomes_true test -e asked -a \
    -e long/metrics.jsonl
ok '9,000 steps are trained during one evaluation' becomes_true many_events
kill "$trainer"
wait "$trainer"
: >ended
ok 'follow exits with 0 if the run ends during an evaluation' wait "$follower"

# follow is killed while it evaluates, and restarted
rm curve/results.jsonl
"$eval" follow -r curve half.foil other.foil >/dev/null 2>&1 &
follower=$!
becomes_true grep -qs probe curve/results.jsonl
kill -9 "$follower"
wait "$follower" 2>/dev/null
ok 'follow restarts after SIGKILL' \
    "$eval" follow -r curve half.foil other.foil
ok 'follow after SIGKILL evaluates every checkpoint' \
    test "$(probed curve | tr ' ' '\n' | sort -u | xargs)" = \
    '1 2 3 4'
rm curve/results.jsonl
"$eval" follow -r curve half.foil other.foil >/dev/null 2>&1 &
follower=$!
becomes_true test -e curve/judging
kill "$follower"
ok 'follow exits with 0 after SIGTERM' wait "$follower"
ok 'follow leaves no temporary files after SIGTERM' \
    test ! -e curve/follow -a ! -e curve/judging

# captions: the measure for a run with a text encoder
"$BIN/foil-data" vocabulary -o words.txt set.tar 2>/dev/null
"$BIN/foil-augment" -r pairs --size 16 --views 1 --vocabulary words.txt set.tar \
    2>pairs.augment &
"$BIN/foil-select" -r pairs --batch 12 --epochs 2 set.tar 2>pairs.select &
ok 'a run of images and captions succeeds' "$BIN/foil-train" -r pairs --threads 1 \
    --deadline 60 --arch resnet8,width=4 --text bow:8 --embed 8 \
    --vocabulary words.txt --objective clip --checkpoint-every 1 --keep 9
wait
ok 'follow evaluates captions without a training set' bash -c \
    "'$eval' follow -r pairs set.tar >pairs.jsonl"
ok 'follow prints the recall of captions' test "$(jq -s 'map(keys) | unique | add |
    join(" ")' pairs.jsonl)" = '"best captions step"'
ok 'best is the first checkpoint with the highest mean recall' test \
    "$(readlink pairs/best)" = \
    "$(jq -rs 'max_by([.captions, -.step]) | "step-0000000\(.step)"' pairs.jsonl)"
ok 'follow does nothing if all captions have results' bash -c \
    "test -z \"\$('$eval' follow -r pairs set.tar)\""
ok 'follow with labels evaluates captions, knn and probe' \
    test "$("$eval" follow -r pairs --once -k 1 half.foil \
    other.foil | jq -s 'map(keys) | unique | add | join(" ")')" = \
    '"best captions knn probe step"'
ok 'foil runs prints the mean recall of captions' bash -c \
    "'$BIN/foil-runs' pairs | jq -e '.results.captions.r_mean | numbers'"
ok '--best knn without labels exits with 1' refuses 1 'do not suffice for --best knn' \
    "$eval" follow -r pairs --best knn set.tar

done_testing
