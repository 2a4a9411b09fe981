#!/bin/bash
# More than two views of an image, from foil-augment to the objective.
# Mostly waits, 20 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

export PYTHONPATH=${0%/*}/../../pipelines/python PATH=$BIN:$PATH
warm numpy torch foil

data=$work/set.tar
"$BIN/foil-data" generate --size 16 -o "$data" 48 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null
select_with=(-b 8 -e 2)
augment_with=(--size 16 -v 4)
train_with=(--arch resnet8 --head 16-8 --lr 0.1)
deadline=8

fails() {
    ! "$@"
}

same() {
    diff -r -x config.json "$work/$1/latest/" "$work/$2/latest/"
}

ok 'isogclr trains on four views of an image' \
    trained "$work/four" --objective isogclr
ok 'its log has the views of each batch' \
    jq -es 'all(.[]; .views == 4)' "$work/four/batches.jsonl"
ok 'it stops in mid-epoch' trained "$work/cut" --objective isogclr --steps 4
ok 'and resumes' trained "$work/cut" --resume
ok 'to the same bits' same four cut
ok 'two views are positives of the others' \
    trained "$work/targets" --objective dcl --positive-views 2
ok 'all of them by default' trained "$work/all" --objective dcl
ok 'which is another loss' fails cmp -s "$work/all/latest/model.safetensors" \
    "$work/targets/latest/model.safetensors"
ok 'micro-batches train on four views' trained "$work/micro" --micro-batch 9
ok 'a loop in Python has four views' "$python" -c "
import foil
for b in foil.views('$data', batch=8, size=8, views=4):
    assert b.views.shape == (4, 8, 8, 8, 3) and not len(b.extra)"
ok 'an objective of pairs refuses them' \
    refuses 1 'given up' trained "$work/pairs" --objective simco
ok 'and says why' grep -q 'simco wants 2 views of each image, not 4: it weighs' \
    "$work/pairs.augment"
ok 'a run with four views stops' trained "$work/other" --steps 4
augment_with=(--size 16)
ok 'and refuses two' refuses 1 'given up' trained "$work/other" --resume
ok 'with that reason' grep -q '2 views of each image: this run has 4' \
    "$work/other.augment"
ok '--positive-views 1 exits with 2' refuses 2 'no positive' \
    "$BIN/foil-train" -r x --positive-views 1
ok '--positive-views is refused for an objective of pairs' refuses 2 'negatives' \
    "$BIN/foil-train" -r x --positive-views 2 --objective hcl
done_testing
