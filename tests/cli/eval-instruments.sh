#!/usr/bin/env bash
# foil-eval false-negatives, plan and chains: results that are known in advance.
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

# Eight samples at the corners of a cube, in two groups; both views are the same.
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

# In a batch of all, the negatives of a corner have cosines 1/3 (3), -1/3 (3), -1 (1), and
# those of its group 1/3 (2), -1/3 (1).  At temperature 1/3 the group's share is
# (2 e + e^-1) / (3 e + 3 e^-1 + e^-3) = .62358; 3 of 7 negatives are of the group.
"$eval" false-negatives --tau 0.3333333333 --replicas 2 -b 8 --objective dcl \
    --objective flatclr u.npy v.npy >line
# shellcheck disable=SC2016 # of jq
ok "false-negatives prints the share of the anchor's group" \
    jq -es 'length == 2 and all(.[];
    (.same_class_weight.value - .62358 | fabs < 1e-4) and
    .same_class_weight.half_width < 1e-6 and
    (.same_class_share.value - 3 / 7 | fabs < 1e-6) and (.lift.value - 1.45502 | fabs < 1e-3))' line

# The same during training, of embeddings that do not change.
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
ok 'a run with --labels succeeds' trained by-groups --objective dcl --labels u.labels.npy
# shellcheck disable=SC2016 # of jq
ok 'metrics.jsonl has the same shares as false-negatives' jq -es 'length == 1 and all(.[];
    (.same_class_weight - .62358 | fabs < 1e-4) and
    (.same_class_share - 3 / 7 | fabs < 1e-6))' \
    by-groups/metrics.jsonl
ok 'a run with the classes of a data set as labels succeeds' \
    trained by-classes --labels cube.tar
ok 'the shares are 0 where each class has one image' \
    jq -es 'all(.[]; .same_class_weight == 0 and .same_class_share == 0)' \
    by-classes/metrics.jsonl
ok '--labels of another data set exits with 1' \
    refuses 1 'is not the data set of this run' \
    trained by-others --labels other.tar

ok 'false-negatives measures the chains of emc2' \
    prints_line '"proposals":"exact".*"warmup":3' false-negatives --warmup 3 \
    -b 4 --objective emc2 --proposals exact u.npy v.npy
ok "the share of emc2's chains is above chance" \
    jq -e '.same_class_weight.value > .3 and .same_class_weight.value < 1' line
ok 'false-negatives of an objective without weights exits with 1' \
    refuses 1 'has no weights of negatives' \
    "$eval" false-negatives -b 4 --objective barlow_twins u.npy v.npy
ok 'false-negatives without labels exits with 1' \
    refuses 1 'false negatives are unknown' \
    "$eval" false-negatives -b 4 v.npy u.npy
npy v.same.npy '<i8' '8,' "${groups[@]}"
ok 'false-negatives takes groups of equal captions' \
    prints_line '"measure":"false-negatives"' \
    false-negatives -b 4 v.npy u.npy

# plan: in batches of all samples, every pair is in the first batch
ok 'foil-eval plan prints lines' "$eval" plan -b 8,2 --epochs 5 -k 3 u.npy v.npy
cp "$work/out" plans
# shellcheck disable=SC2016 # of jq
ok 'plan prints epochs 1, 2, 4 and the last one' jq -es '
    map([.batch, .epochs]) == ([8, 2] | map([., 1], [., 2], [., 4], [., 5]))' plans
ok 'in batches of all samples every pair occurs in one epoch' jq -es '.[0] |
    .coverage == 1 and .hardest_coverage == 1 and .repeated == 0 and
    .components == 1 and (.second_eigenvalue + 1 / 7 | fabs < 1e-4)' plans
ok 'plan prints the share of repeated pairs' jq -es '.[3].repeated == 0.8' plans
ok 'batches of two form separate parts' jq -es '.[4] |
    .components == 4 and .second_eigenvalue == 1 and (.coverage - 1 / 7 | fabs < 1e-6)' plans
ok 'plan takes a strategy by features' prints_line '"strategy":"spectral"' \
    plan -b 4 --epochs 1 --strategy spectral u.npy v.npy

# chains: exact draws from batches of all samples are independent
ok 'foil-eval chains prints its measure' \
    prints_line '"measure":"chains","objective":"emc2","batch":8,' chains \
    --proposals exact -b 8 --visits 300 --anchors 16 u.npy v.npy
# shellcheck disable=SC2016 # of jq
ok 'exact draws from all samples mix at once' \
    jq -e '.chains == 16 and .rhat.median < 1.05 and
    .independent.mean > .7 and (.cosine_bias.mean | fabs < .01) and .distance.high < .001 and
    (.autocorrelation[0] - 1 | fabs < 1e-6) and (.autocorrelation[1] | fabs < .1)' line
ok 'chains of proposals from small batches are measured' \
    prints_line '"accepted":0' chains --proposals once -b 4 \
    --visits 50 --anchors 16 u.npy v.npy
# shellcheck disable=SC2016 # of jq
ok 'proposals from small batches mix more slowly' \
    jq -e '.accepted < .7 and .independent.mean < .85 and
    .autocorrelation[1] > .01' line
if command -v gnuplot >/dev/null; then
    ok 'chains --plot succeeds' \
        "$eval" chains --plot chains.png -b 4 --visits 30 u.npy v.npy
    ok 'plan --plot succeeds' "$eval" plan --plot plan.png -b 2,4 --epochs 4 u.npy v.npy
    ok 'false-negatives --plot succeeds' "$eval" false-negatives --plot false.png -b 4,8 \
        --objective simclr --objective dcl u.npy v.npy
    for name in chains plan false; do
        ok "$name.png is a PNG" bash -c "head -c 4 $name.png | grep -q PNG"
    done
else
    skip 'plots of chains, plan and false-negatives' 'no gnuplot'
fi
ok 'chains of simclr exits with 2' refuses 2 'simclr has no chains' \
    "$eval" chains --objective simclr -b 4 u.npy v.npy
ok 'chains of the cache exits with 1' refuses 1 'the sampler of cache has no chains' \
    "$eval" chains --objective cache -b 4 u.npy v.npy
ok 'chains --plot of two batch sizes exits with 2' refuses 2 'draws one size' \
    "$eval" chains --plot c.png -b 2,4 u.npy v.npy
done_testing
