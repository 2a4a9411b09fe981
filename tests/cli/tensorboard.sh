#!/usr/bin/env bash
# Files for TensorBoard by foil-runs, and during a run by foil-tap: another implementation
# (Google's protobuf) reads them, and they have the values of the run's files.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
reader=$(cd "${0%/*}/.." && pwd)/tensorboard.py
cd "$work" || exit 1
PATH=$BIN:$PATH

# read_board FILE TO : writes what the other implementation reads
read_board() {
    /usr/bin/python3 "$reader" "$1" >"$2"
}
# values FILE TAG : prints STEP TIME VALUE for each
values() {
    jq -r --arg tag "$2" 'select(.tag == $tag) | "\(.step) \(.time) \(.value)"' "$1"
}
# near FILE FILE : the same numbers within the error of a float
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
ok 'foil tap subscribes to a run' becomes_true has_subscriber runs/a
foil-augment -r "$work/runs/a" --size 16 set.tar 2>augment.err &
foil-select -r "$work/runs/a" --batch 8 --epochs 4 set.tar 2>select.err &
ok 'the run succeeds' wait "$trainer"
wait
foil-embed -o a.npy runs/a set.tar 2>/dev/null
foil-eval knn -k 3 a.npy >result

ok 'foil runs --tensorboard succeeds' foil-runs --tensorboard board runs
ok 'the folder has the name of the run' test -e board/runs/a/events.out.tfevents.foil-runs
ok 'protobuf reads the file' read_board board/runs/a/*tfevents* all
for name in loss grad_norm lr; do
    values all "train/$name" >is
    jq -r "\"\(.total) \(.time) \(.$name)\"" runs/a/metrics.jsonl >want
    ok "the file has $name of each step" near is want
done
ok 'the file has no scalar for the step' \
    exits 1 grep -E '"train/(total|epoch|step|time)"' all
values all 'eval/knn 3' >is
jq -r '"\(.step) \(.time) \(.accuracy)"' runs/a/results.jsonl >want
ok 'the file has the result of knn' near is want
ok 'the file has the histogram of temperatures' \
    jq -es 'map(select(.tag == "sample/tau"))[0] |
    .step == 12 and .num == 24 and (.counts | add) == 24 and (.counts | length) == 50 and
    (.limits | . == sort) and (.limits[-1] - .max | fabs) < 1e-9 and
    .min <= .sum / .num and .sum / .num <= .max and
    .sum * .sum / .num <= .sum_squares * 1.000001' all
ok 'foil runs --tensorboard writes the same file again' \
    eval 'cp board/runs/a/*tfevents* before &&
    foil-runs --tensorboard board runs && cmp <(tail -c +41 before) \
    <(tail -c +41 board/runs/a/*tfevents*)'
ok 'a run above the current folder is written into the board' \
    eval 'mkdir below && (cd below &&
    foil-runs --tensorboard ../board ../runs) && test -e board/runs/a/*tfevents*'
ok '--tensorboard in a file exits with 1' refuses 1 "cannot make folder 'set.tar'" \
    foil-runs --tensorboard set.tar runs
# shellcheck disable=SC2016 # for the other bash
ok '--tensorboard to a full disk exits with 1' \
    refuses 1 'cannot write' bash -c 'trap "" XFSZ; ulimit -f 1
    foil-runs --tensorboard full runs'
ok '--tensorboard to a full disk leaves no file' test -z "$(find full -type f)"

ok 'protobuf reads the file of foil tap' read_board live/*tfevents* live.jsonl
values live.jsonl train/loss | awk '{ print $1, 0, $3 }' >is
jq -r '"\(.total) 0 \(.loss)"' runs/a/metrics.jsonl |
    awk 'NR == FNR { received[$1]; next } $1 in received' is - >want
ok 'the file of foil tap has the losses that it received' near is want
ok 'the file of foil tap has similarities of batches' \
    jq -es '[.[] | select(.tag | startswith("similarity/"))] |
    length >= 2 and all(.min >= -1.00001 and .max <= 1.00001) and
    ([.[].num] | unique) == [8, 56]' live.jsonl
done_testing
