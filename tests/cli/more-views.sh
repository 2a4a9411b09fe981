#!/bin/bash
# More than two views of an image, from foil-augment to the objective.
# Mostly waits, 50 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

export PYTHONPATH=${0%/*}/../../pipelines/python PATH=$BIN:$PATH
modules=(numpy foil)
! has_python torch || modules+=(torch)
warm "${modules[@]}"
crops=$(cd "${0%/*}" && pwd)/crops.py
program="FOIL_MEMORY=/proc/\$\$/fd/3 exec '$python' '$crops'"

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
ok 'a run with four views stops in mid-epoch' \
    trained "$work/cut" --objective isogclr --steps 4
ok 'a stopped run with four views resumes' trained "$work/cut" --resume
ok 'a resumed run has the same bits' same four cut
ok 'two views are positives of the others' \
    trained "$work/targets" --objective dcl --positive-views 2
ok 'all views are positives by default' trained "$work/all" --objective dcl
ok 'other positives are another loss' fails cmp -s "$work/all/latest/model.safetensors" \
    "$work/targets/latest/model.safetensors"
ok 'micro-batches train on four views' trained "$work/micro" --micro-batch 9
ok 'a loop in Python has four views' "$python" -c "
import foil
for b in foil.views('$data', batch=8, size=8, views=4):
    assert b.views.shape == (4, 8, 8, 8, 3) and not len(b.extra)"
ok 'a loop in Python has views of two sizes' "$python" -c "
import foil
made = lambda **how: [(b.ids.copy(), b.views.copy(), None if b.small is None else
    b.small.copy()) for b in foil.views('$data', batch=8, **how)]
for (ids, views, small), of_16, of_8 in zip(made(views='2x16+3x8'),
        made(size=16, views=5), made(size=8, views=5), strict=True):
    assert (ids == of_16[0]).all() and (ids == of_8[0]).all()
    assert (views == of_16[1][:2]).all() and (small == of_8[1][2:]).all()"
ok 'foil.objective() takes four views' "$python" -c "
import foil, numpy as np
z = np.random.default_rng(0).normal(size=(12, 5)).astype('f4')
v = z / np.linalg.norm(z, axis=1, keepdims=True)
s = v @ v.T / .5
image, away = np.arange(12) % 3, ~np.eye(12, dtype=bool)
log_p = s - np.log((np.exp(s) * away).sum(1, keepdims=True))
mean = lambda of: (log_p * of).sum(1) / of.sum(1)
same = (image[:, None] == image) & away
loss = foil.objective('simclr')
for many, of in (0, same), (2, same & (np.arange(12) < 6)):
    value, dz = loss(range(3), z, views=4, positive_views=many)
    assert abs(value + mean(of).mean()) < 1e-5 and dz.shape == z.shape"
ok 'an objective of pairs refuses them' \
    refuses 1 'given up' trained "$work/pairs" --objective simco
ok 'an objective of pairs names the reason' \
    grep -q 'simco needs 2 views of each image, not 4: it weighs' \
    "$work/pairs.augment"
ok 'a run with four views stops' trained "$work/other" --steps 4
augment_with=(--size 16)
ok 'a run with four views refuses two' refuses 1 'given up' trained "$work/other" --resume
ok 'a run with four views names the reason' \
    grep -q '2 views of each image: this run has 4' \
    "$work/other.augment"

augment_with=(-v 2x16+3x8 --small-recipe cifar,scale-max=0.4)
ok 'views of two sizes train' trained "$work/sizes" --objective dcl
ok 'their run stops in mid-epoch' trained "$work/stopped" --objective dcl --steps 5
ok 'their run resumes' trained "$work/stopped" --resume
ok 'a resumed run with two sizes has the same bits' same sizes stopped
ok 'they train in micro-batches, that cross the sizes' \
    trained "$work/crossed" --micro-batch 12
ok 'they train by the positives of the large ones' \
    trained "$work/locals" --positive-views 2
ok 'another such run stops' trained "$work/few" --steps 5
augment_with=(-v 2x16+4x8)
ok 'another number of small views is refused' refuses 1 'given up' \
    trained "$work/few" --resume
ok 'the reason is the number of views' grep -q '6 views of each image: this run has 5' \
    "$work/few.augment"
if has_python torch; then
    train_with=(--arch program --encoder "$program" --lr 0.01)
    ok 'SwAV in PyTorch trains on two sizes' \
        trained "$work/swav" --objective external
    ok 'its run stops in mid-epoch' trained "$work/swap" --objective external --steps 5
    ok 'SwAV in PyTorch resumes' trained "$work/swap" --resume
    ok 'SwAV that was resumed has the same bits' same swav swap
    ok 'an objective of foil trains a program on two sizes' \
        trained "$work/dcl" --objective dcl --positive-views 2
    ok 'an objective of foil trains it in micro-batches' trained "$work/pieces" --objective dcl \
        --positive-views 2 --micro-batch 20
else
    skip 'encoders in PyTorch' 'no python3-torch'
fi
train_with=(--arch vit:16x1x8 --head 16-8)
ok 'an encoder of images of one size refuses two' refuses 1 'given up' \
    trained "$work/vit"
ok 'it says that its images have one size' grep -q 'vit:16x1x8 reads images of one size' "$work/vit.augment"
train_with=(--arch resnet8 --head 16-8 --shards 2)
ok 'shards refuse two sizes' refuses 1 'given up' trained "$work/shards"
ok 'they say that their batches have one size' grep -q 'splits batches of one size' "$work/shards.augment"
mistake() {
    refuses 2 "$1" "$BIN/foil-augment" -r x "${@:2}" "$data"
}
ok 'a size that grows exits with 2' mistake 'the smaller last' -v 2x16+6x32
ok 'fixed views of two sizes exit with 2' mistake 'is for one size' \
    -v 2x32+6x16 --augmentations 9
ok 'sizes by epoch beside those exit with 2' mistake 'exclude each other' \
    -v 2x32+6x16 --size 16@0,32@4
ok 'a recipe of no small views exits with 2' mistake 'for two sizes' \
    -v 4 --small-recipe cifar
ok '--positive-views 1 exits with 2' refuses 2 'no positive' \
    "$BIN/foil-train" -r x --positive-views 1
ok '--positive-views is refused for an objective of pairs' refuses 2 'negatives' \
    "$BIN/foil-train" -r x --positive-views 2 --objective hcl
done_testing
