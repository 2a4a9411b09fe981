#!/usr/bin/env bash
# foil-eval bias: what is known of methods shows, on features and on parameters.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
cd "$work" || exit 1
small_set
ok 'an encoder' trained run --arch mlp,hidden=8 --head 4
for view in 0 1; do
    "$BIN/foil-embed" --layer z --recipe cifar --view $view -o $view.npy run set.tar 2>/dev/null
done

"$eval" bias --threads 1 --tau 0.5 --objective simclr --objective dcl --replicas 4 \
    -b 3,24 0.npy 1.npy >features
# shellcheck disable=SC2016 # of jq
ok 'a line for each objective and size' jq -es '
    map([.objective, .batch]) == [["simclr", 3], ["simclr", 24], ["dcl", 3], ["dcl", 24]]' \
    features
ok 'the partner in its denominator is a bias of simclr' jq -es '
    .[1] | .bias.value > 1e-5 and .bias.half < 1e-6 and .cosine.value < .99999' features
ok 'a batch of all is exact, where its loss is' jq -es '
    .[3] | .bias.value < 1e-6 and .variance.value < 1e-6 and .cosine.value > .999999' features
ok 'with the partner inside' says '"positive_inside":true' \
    bias --threads 1 --tau 0.5 --inside --replicas 3 -b 24 0.npy 1.npy
ok 'simclr is' jq -e '.bias.value < 1e-6 and (.scale.value - 1 | fabs < 1e-4)' line

# what was embedded here and what foil-embed has written is the same
ok 'of a checkpoint' says '"space":"embedding"' bias --threads 1 --tau 0.5 \
    --objective dcl --replicas 4 -b 3 run set.tar
# shellcheck disable=SC2016 # of jq
ok 'the same' jq -en --slurpfile a features --slurpfile b line '
    def off(f): ($a[2] | f) - ($b[0] | f) | fabs;
    off(.bias.value) < 1e-3 and off(.variance.value) < 1e-3 and off(.cosine.value) < 1e-3'
ok 'parameters' "$eval" bias --threads 1 --objective dcl --space both --replicas 3 \
    -b 24 --tau 0.2 --chunk 20 run set.tar
cp "$work/out" both
ok 'have a line, too' jq -es 'map(.space) == ["embedding", "parameters"]' both
ok 'and no bias in a batch of all' jq -es '
    .[1] | .bias.value < 1e-6 and .cosine.value > .99999' both
ok 'the exact gradient' says '"measure":"loss"' loss --threads 1 run set.tar
# shellcheck disable=SC2016 # of jq
ok 'is that of loss' jq -en --slurpfile a line --slurpfile b both '
    $a[0].square_gradient / $b[1].square_gradient - 1 | fabs < 1e-4'

ok 'chains of a sampler' says '"proposals":"exact"' bias --threads 1 --objective emc2 \
    --proposals exact --replicas 3 --warmup 2 -b 4 0.npy 1.npy
ok 'another strategy' says '"strategy":"osgd,top=2"' bias --threads 1 \
    --strategy osgd,top=2 --replicas 3 -b 4 0.npy 1.npy
ok 'other views alone' says '"negatives":"cross"' bias --threads 1 --negatives cross \
    --objective clip --inside --replicas 3 -b 24 0.npy 1.npy
ok 'clip has their gradient' jq -e '.bias.value < 1e-6' line
if command -v gnuplot >/dev/null; then
    ok 'a picture' "$eval" bias --threads 1 --replicas 3 -b 4,8 --plot bias.png 0.npy 1.npy
    ok 'is a PNG' bash -c "head -c 4 bias.png | grep -q PNG"
else
    skip 'a picture' 'no gnuplot'
fi

ok 'one view: 2' refuses 2 'two views' "$eval" bias -b 4 0.npy
ok 'parameters of features: 2' refuses 2 'features have no parameters' \
    "$eval" bias --space parameters 0.npy 1.npy
ok 'larger batches than there are samples: 1' refuses 1 'a batch of 32 of 24' \
    "$eval" bias 0.npy 1.npy
ok 'no size: 2' refuses 2 'is no list of at most' "$eval" bias -b 1 0.npy 1.npy
ok 'no such objective: 2' refuses 2 "no objective 'soup'" \
    "$eval" bias --objective soup 0.npy 1.npy
ok 'no such parameter: 2' refuses 2 "simclr has no parameter 'salt'" \
    "$eval" bias --objective simclr,salt=1 0.npy 1.npy
ok 'no such strategy: 2' refuses 2 "soup" "$eval" bias --strategy soup 0.npy 1.npy
ok 'an objective with outputs of its own: 1' refuses 1 'needs more of an encoder' \
    "$eval" bias --objective tau_simclr -b 4 0.npy 1.npy
done_testing
