#!/usr/bin/env bash
# What TensorBoard is given: of a run by foil-runs, as it goes by foil-tap; read by
# another implementation (Google's protobuf) and held against what the run's files say.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
reader=$(cd "${0%/*}/.." && pwd)/tensorboard.py
cd "$work" || exit 1
PATH=$BIN:$PATH

# read_board FILE TO : what another reader understands
read_board() {
    /usr/bin/python3 "$reader" "$1" >"$2"
}
# values FILE TAG : a line for each, STEP TIME VALUE
values() {
    jq -r --arg tag "$2" 'select(.tag == $tag) | "\(.step) \(.time) \(.value)"' "$1"
}
# near FILE FILE : the same lines of numbers, but for a float's error
near() {
    test -s "$1" && paste -d' ' "$1" "$2" | awk 'NF != 6 || $1 != $4 || $2 != $5 ||
        ($3 - $6) ^ 2 > 1e-12 * (1 + $6 ^ 2) { bad = 1; print } END { exit bad }'
}

foil-data generate -o set.tar --size 16 24 2>/dev/null
foil-data index set.tar 2>/dev/null
foil-tap -q --tensorboard live -r "$work/runs/a" events 2>tap.err &
mkdir runs
foil-train -r "$work/runs/a" --threads 1 --deadline 60 --arch linear,hidden=6 --head 8 \
    --objective isogclr --lr 0.1 2>train.err &
trainer=$!
ok 'foil tap hears a run' becomes_true is_heard runs/a
foil-augment -r "$work/runs/a" --size 16 set.tar 2>augment.err &
foil-select -r "$work/runs/a" --batch 8 --epochs 4 set.tar 2>select.err &
ok 'that is trained' wait "$trainer"
wait
foil-embed -o a.npy runs/a set.tar 2>/dev/null
foil-eval knn -k 3 a.npy >result

ok 'foil runs writes it' foil-runs --tensorboard board runs
ok 'in a folder by the name of the run' test -e board/runs/a/events.out.tfevents.foil-runs
ok 'another reader understands it' read_board board/runs/a/*tfevents* all
for name in loss gradient rate; do
    values all "train/$name" >is
    jq -r "\"\(.total) \(.time) \(.$name)\"" runs/a/metrics.jsonl >want
    ok "$name of each step" near is want
done
ok 'no step is a number of its own' exits 1 grep -E '"train/(total|epoch|step|time)"' all
values all 'eval/knn 3' >is
jq -r '"\(.step) \(.time) \(.accuracy)"' runs/a/results.jsonl >want
ok 'a result' near is want
ok 'temperatures of all samples' jq -es 'map(select(.tag == "sample/tau"))[0] |
    .step == 12 and .num == 24 and (.counts | add) == 24 and (.counts | length) == 50 and
    (.limits | . == sort) and (.limits[-1] - .max | fabs) < 1e-9 and
    .min <= .sum / .num and .sum / .num <= .max and
    .sum * .sum / .num <= .sum_squares * 1.000001' all
ok 'again, it is the same' eval 'cp board/runs/a/*tfevents* before &&
    foil-runs --tensorboard board runs && cmp <(tail -c +41 before) \
    <(tail -c +41 board/runs/a/*tfevents*)'
ok 'a run above us is in the folder, too' eval 'mkdir below && (cd below &&
    foil-runs --tensorboard ../board ../runs) && test -e board/runs/a/*tfevents*'
ok 'where nothing can be written: 1' refuses 1 "cannot make folder 'set.tar'" \
    foil-runs --tensorboard set.tar runs
# shellcheck disable=SC2016 # for the other bash
ok 'a full disk: 1' refuses 1 'cannot write' bash -c 'trap "" XFSZ; ulimit -f 1
    foil-runs --tensorboard full runs'
ok 'and nothing is left half' test -z "$(find full -type f)"

ok 'foil tap has written, too' read_board live/*tfevents* live.jsonl
values live.jsonl train/loss | awk '{ print $1, 0, $3 }' >is
jq -r '"\(.total) 0 \(.loss)"' runs/a/metrics.jsonl |
    awk 'NR == FNR { heard[$1]; next } $1 in heard' is - >want
ok 'losses as they came' near is want
ok 'similarities of a batch' jq -es '[.[] | select(.tag | startswith("similarity/"))] |
    length >= 2 and all(.min >= -1.00001 and .max <= 1.00001) and
    ([.[].num] | unique) == [8, 56]' live.jsonl
done_testing
