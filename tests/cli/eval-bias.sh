#!/usr/bin/env bash
# foil-eval bias shows known properties of methods, on features and on parameters.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
cd "$work" || exit 1
small_set
ok 'an encoder trains' trained run --arch mlp,hidden=8 --head 4
for view in 0 1; do
    "$BIN/foil-embed" --layer z --recipe cifar --view $view -o $view.npy run set.tar 2>/dev/null
done

"$eval" bias --threads 1 --tau 0.5 --objective simclr --objective dcl --replicas 4 \
    -b 3,24 0.npy 1.npy >features
# shellcheck disable=SC2016 # of jq
ok 'bias prints a line for each objective and batch size' jq -es '
    map([.objective, .batch]) == [["simclr", 3], ["simclr", 24], ["dcl", 3], ["dcl", 24]]' \
    features
ok 'simclr is biased because its denominator has the partner' jq -es '
    .[1] | .bias.value > 1e-5 and .bias.half_width < 1e-6 and .cosine.value < .99999 and
    (.direction.value - 1 + .cosine.value * .cosine.value | fabs < 1e-6)' features
# shellcheck disable=SC2016 # of jq
ok 'in embeddings images make n / b - 1 of the variance' jq -es '
    .[2] | (.scale.value * .scale.value) as $length |
    (.variance_images.value / (7 * $length) - 1 | fabs < .05) and
    (.variance_images.value + .variance_negatives.value - .variance.value | fabs < 1e-6) and
    (.noise_scale.value * $length / (3 * .variance.value) - 1 | fabs < .05)' features
ok 'dcl has no bias in a batch of all samples' jq -es '
    .[3] | .bias.value < 1e-6 and .variance.value < 1e-6 and .cosine.value > .999999' features
ok 'sogclr has the direction of dcl and its declared scale, 2 tau' \
    prints_line '"declared_scale":1.4' bias --threads 1 --tau 0.7 \
    --objective sogclr,gamma=1 --replicas 3 -b 24 0.npy 1.npy
ok 'its gradient has that length' jq -e '.direction.value < 1e-6 and
    (.scale.value - 1.4 | fabs < 1e-3)' line
ok 'bias --inside keeps the partner in the denominator' \
    prints_line '"positive_inside":true' \
    bias --threads 1 --tau 0.5 --inside --replicas 3 -b 24 0.npy 1.npy
ok 'simclr has no bias with --inside in a batch of all samples' \
    jq -e '.bias.value < 1e-6 and (.scale.value - 1 | fabs < 1e-4)' line

# views that foil-eval embeds are those that foil-embed writes
ok 'bias measures a checkpoint' \
    prints_line '"space":"embedding"' bias --threads 1 --tau 0.5 \
    --objective dcl --replicas 4 -b 3 --space embedding run set.tar
# shellcheck disable=SC2016 # of jq
ok 'bias of a checkpoint is that of its features' \
    jq -en --slurpfile a features --slurpfile b line '
    def off(f): ($a[2] | f) - ($b[0] | f) | fabs;
    off(.bias.value) < 1e-3 and off(.variance.value) < 1e-3 and off(.cosine.value) < 1e-3'
ok 'bias of a checkpoint measures parameters, too' \
    "$eval" bias --threads 1 --objective dcl --replicas 3 \
    -b 24 --tau 0.2 --chunk 20 run set.tar
cp "$work/out" both
ok 'it prints a line for each space' \
    jq -es 'map(.space) == ["embedding", "parameters"]' both
ok 'the gradient of parameters has no bias in a batch of all samples' jq -es '
    .[1] | .bias.value < 1e-6 and .cosine.value > .99999' both
ok 'foil-eval loss measures the exact gradient' \
    prints_line '"measure":"loss"' loss --threads 1 run set.tar
# shellcheck disable=SC2016 # of jq
ok 'bias and loss have the same exact gradient' \
    jq -en --slurpfile a line --slurpfile b both '
    $a[0].square_gradient / $b[1].square_gradient - 1 | fabs < 1e-4'
# What a sampler remembers is of the checkpoint before.
ok 'bias --before fills the bank by an earlier checkpoint' \
    prints_line '"before":"run/step-' bias --threads 1 --objective emc2 \
    --proposals exact-bank --replicas 3 --warmup 2 -b 4 --space embedding \
    --before "$(printf '%s\n' run/step-* | head -n 1)" run set.tar
ok 'bias --before of features exits with 2' refuses 2 'features have no earlier' \
    "$eval" bias --before run -b 4 0.npy 1.npy

ok 'bias of emc2 uses the chains of its sampler' \
    prints_line '"proposals":"exact"' bias --threads 1 --objective emc2 \
    --proposals exact --replicas 3 --warmup 2 -b 4 0.npy 1.npy
ok 'bias takes another --strategy' \
    prints_line '"strategy":"osgd,top=2"' bias --threads 1 \
    --strategy osgd,top=2 --replicas 3 -b 4 0.npy 1.npy
ok 'bias --negatives cross uses other views only' \
    prints_line '"negatives":"cross"' bias --threads 1 --negatives cross \
    --objective clip --inside --replicas 3 -b 24 0.npy 1.npy
ok 'clip with --inside has no bias against cross negatives' \
    jq -e '.bias.value < 1e-6' line
if command -v gnuplot >/dev/null; then
    ok 'bias --plot draws a plot' \
        "$eval" bias --threads 1 --replicas 3 -b 4,8 --plot bias.png 0.npy 1.npy
    ok 'the plot of bias is a PNG' bash -c "head -c 4 bias.png | grep -q PNG"
else
    skip 'a plot of bias' 'no gnuplot'
fi

"$eval" plan --threads 1 --tau 0.5 -b 24,3 --epochs 1 0.npy 1.npy >plans
ok 'the gradient of a batch of all samples is that of the global loss' jq -es '
    (.[0].cosine - 1 | fabs < 1e-5) and .[1].cosine < .99' plans
ok 'bias of one view exits with 2' refuses 2 'two views' "$eval" bias -b 4 0.npy
ok '--space parameters of features exits with 2' refuses 2 'features have no parameters' \
    "$eval" bias --space parameters 0.npy 1.npy
ok 'a batch larger than the number of samples exits with 1' \
    refuses 1 'a batch of 32 of 24' \
    "$eval" bias 0.npy 1.npy
ok 'a batch of 1 exits with 2' \
    refuses 2 'is no list of at most' "$eval" bias -b 1 0.npy 1.npy
ok 'an unknown objective exits with 2' refuses 2 "no objective 'soup'" \
    "$eval" bias --objective soup 0.npy 1.npy
ok 'an unknown parameter of an objective exits with 2' \
    refuses 2 "simclr has no parameter 'salt'" \
    "$eval" bias --objective simclr,salt=1 0.npy 1.npy
ok 'an unknown strategy exits with 2' \
    refuses 2 "soup" "$eval" bias --strategy soup 0.npy 1.npy
ok 'an objective with other outputs exits with 1' refuses 1 'needs more of an encoder' \
    "$eval" bias --objective tau_simclr -b 4 0.npy 1.npy
done_testing
