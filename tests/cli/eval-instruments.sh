#!/usr/bin/env bash
# foil-eval false-negatives, plan and chains: what can be known of them beforehand.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
here=$(cd "${0%/*}" && pwd)
# shellcheck source=tests/npy.sh
. "$here/../npy.sh"
# shellcheck source=tests/runs.sh
. "$here/../runs.sh"
cd "$work" || exit 1

# Eight samples at the corners of a cube, of two groups; both views are alike.
one=0000803f minus=000080bf corners=() groups=()
for corner in 0 1 2 3 4 5 6 7; do
    for bit in 1 2 4; do
        corners+=("$([[ $((corner & bit)) -eq 0 ]] && echo $one || echo $minus)")
    done
    groups+=("$(int $((corner / 4)))")
done
npy u.npy '<f4' '8, 3' "${corners[@]}"
npy v.npy '<f4' '8, 3' "${corners[@]}"
npy u.labels.npy '<i8' '8,' "${groups[@]}"

# In a batch of all, a corner has as cosines 1/3 (3 others), -1/3 (3), -1 (1), and of its
# group 1/3 (2), -1/3 (1): at temperature 1/3 the share is
# (2 e + e^-1) / (3 e + 3 e^-1 + e^-3) = .62358; at any, 3 of 7 are of the group.
"$eval" false-negatives --tau 0.3333333333 --epochs 2 -b 8 --objective dcl \
    --objective flatclr u.npy v.npy >line
# shellcheck disable=SC2016 # of jq
ok 'the share on the own group, by hand' jq -es 'length == 2 and all(.[];
    (.share.value - .62358 | fabs < 1e-4) and .share.half < 1e-6 and
    (.shown.value - 3 / 7 | fabs < 1e-6) and (.lift.value - 1.45502 | fabs < 1e-3))' line

# The same beside training, of embeddings that stay where they are.
for set in cube other; do
    "$BIN/foil-data" generate --size 8 -s "${#set}" -o $set.tar 8 2>/dev/null
    "$BIN/foil-data" index $set.tar 2>/dev/null
done
both=()
for ((i = 0; i < ${#corners[@]}; i += 3)); do
    both+=("${corners[@]:i:3}" "${corners[@]:i:3}")
done
npy rows.npy '<f4' '16, 3' "${both[@]}"
data=cube.tar augment_with=(--recipe none --size 8) select_with=(--batch 8 --epochs 1)
train_with=(--arch table,rows=rows.npy,hidden=3 --head none --lr 0 --objective ,tau=0.3333333333)
ok 'training says it' trained by-groups --objective dcl --labels u.labels.npy
# shellcheck disable=SC2016 # of jq
ok 'by the same numbers' jq -es 'length == 1 and all(.[];
    (.own_class - .62358 | fabs < 1e-4) and (.own_shown - 3 / 7 | fabs < 1e-6))' \
    by-groups/metrics.jsonl
ok 'training on classes of one image' trained by-classes --labels cube.tar
ok 'says none' jq -es 'all(.[]; .own_class == 0 and .own_shown == 0)' \
    by-classes/metrics.jsonl
ok 'classes of another data set: 1' refuses 1 'is not the data set of this run' \
    trained by-others --labels other.tar

ok 'chains have one' says '"proposals":"exact".*"warmup":3' false-negatives --warmup 3 \
    -b 4 --objective emc2 --proposals exact u.npy v.npy
ok 'in small batches, too' jq -e '.share.value > .3 and .share.value < 1' line
ok 'an objective without weights: 1' refuses 1 'has no weights of negatives' \
    "$eval" false-negatives -b 4 --objective barlow_twins u.npy v.npy
ok 'no labels: 1' refuses 1 'false negatives are unknown' \
    "$eval" false-negatives -b 4 v.npy u.npy
npy v.same.npy '<i8' '8,' "${groups[@]}"
ok 'equal captions serve' says '"measure":"false-negatives"' \
    false-negatives -b 4 v.npy u.npy

# plan: with batches of all everybody has met everybody at once
ok 'a plan' "$eval" plan -b 8,2 --epochs 5 -k 3 u.npy v.npy
cp "$work/out" plans
# shellcheck disable=SC2016 # of jq
ok 'after 1, 2, 4 epochs and the last' jq -es '
    map([.batch, .epochs]) == ([8, 2] | map([., 1], [., 2], [., 4], [., 5]))' plans
ok 'in batches of all every pair has met' jq -es '.[0] |
    .coverage == 1 and .hardest == 1 and .again == 0 and .parts == 1 and
    (.second + 1 / 7 | fabs < 1e-4)' plans
ok 'and meets again' jq -es '.[3].again == 0.8' plans
ok 'pairs alone are parts' jq -es '.[4] |
    .parts == 4 and .second == 1 and (.coverage - 1 / 7 | fabs < 1e-6)' plans
ok 'a strategy by features' says '"strategy":"spectral"' \
    plan -b 4 --epochs 1 --strategy spectral u.npy v.npy

# chains: exact draws in batches of all are independent
ok 'chains' says '"measure":"chains","objective":"emc2","batch":8,' chains \
    --proposals exact -b 8 --visits 300 --anchors 16 u.npy v.npy
# shellcheck disable=SC2016 # of jq
ok 'exact draws of all mix at once' jq -e '.chains == 16 and .rhat.median < 1.05 and
    .independent.mean > .7 and (.lean.mean | fabs < .01) and .distance.high < .001 and
    (.autocorrelation[0] - 1 | fabs < 1e-6) and (.autocorrelation[1] | fabs < .1)' line
ok 'proposals of small batches' says '"accepted":0' chains --proposals once -b 4 \
    --visits 50 --anchors 16 u.npy v.npy
# shellcheck disable=SC2016 # of jq
ok 'do less at once' jq -e '.accepted < .7 and .independent.mean < .85 and
    .autocorrelation[1] > .01' line
if command -v gnuplot >/dev/null; then
    ok 'a picture of chains' "$eval" chains --plot chains.png -b 4 --visits 30 u.npy v.npy
    ok 'one of a plan' "$eval" plan --plot plan.png -b 2,4 --epochs 4 u.npy v.npy
    ok 'one of false negatives' "$eval" false-negatives --plot false.png -b 4,8 \
        --objective simclr --objective dcl u.npy v.npy
    for name in chains plan false; do
        ok "$name.png is a PNG" bash -c "head -c 4 $name.png | grep -q PNG"
    done
else
    skip 'pictures' 'no gnuplot'
fi
ok 'no chains: 2' refuses 2 'simclr has no chains' \
    "$eval" chains --objective simclr -b 4 u.npy v.npy
ok 'a cache has none: 1' refuses 1 'the sampler of cache has no chains' \
    "$eval" chains --objective cache -b 4 u.npy v.npy
ok 'two sizes in one picture: 2' refuses 2 'draws one size' \
    "$eval" chains --plot c.png -b 2,4 u.npy v.npy
done_testing
