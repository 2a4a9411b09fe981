#!/usr/bin/env bash
# Study: how far each objective minimises the exact global loss.
#
# As figure 7 of the EMC2 paper: some images of DATA in two fixed views, batches
# of four, plain SGD on a cosine schedule, the same effective step for every
# objective.  Measured is the exact global loss, over all rows of other images,
# and its squared gradient.  The first encoder is linear on 64 principal
# components of the pixels, with 16 outputs; the second is convolutional, a
# resnet8 of width 8 without normalisation on views of 16x16, with fewer images,
# so that it converges.
# shellcheck source=pipelines/lib.sh
. "${0%/*}/../lib.sh"

threads=1 augmenters=1 batch=4 images=500 tau=0.2 points=10
encoders=linear,conv linear_steps=50000 conv_steps=60000 conv_images=100
linear_rate=1 conv_rate=0.03 recipe=cifar,hue=0
own=('images N of DATA' 'conv-images N for the convolutional encoder'
    'tau X temperature of all' 'points N of each curve'
    'encoders LIST linear, conv'
    'linear-steps N of each run of the linear encoder'
    'conv-steps N of each run of the convolutional one'
    'linear-rate X first learning rate of the linear encoder'
    'conv-rate X of the convolutional one')
# shellcheck source=pipelines/studies/lib.sh
. "${0%/*}/lib.sh"
train=('--optim sgd' '--momentum 0' '--weight-decay 0' '--warmup 0'
    '--schedule cosine' '--keep 100000')
# shellcheck disable=SC2034 # lib.sh reads it
augment=("--recipe $recipe" '--size 32' '--augmentations 2')

method simclr simclr
method dcl dcl
method sogclr-.9 sogclr train='--gamma 0.9'
method sogclr-.1 sogclr train='--gamma 0.1'
chains='--filter --augmentations 2'
row='--proposals row' # as the paper has it: 2b - 2 proposals a visit
method emc2-once emc2 negatives="$chains --proposals once --burn-in 0"
method emc2-fresh emc2 negatives="$chains $row --burn-in 0"
method emc2-fresh-P3 emc2 negatives="$chains $row --burn-in 3"
method emc2-stale emc2 negatives="--scores stale $row --burn-in 3"
method emc2-reset emc2 negatives="--scores reset $row --burn-in 3"
method emc2-bank emc2 negatives="$chains --proposals bank --burn-in 0"
method emc2-exact emc2 negatives="$chains --proposals exact"
method emc2-exact-bank emc2 negatives="$chains --proposals exact-bank"
method cache cache negatives='--filter --augmentations 2'
options DATA "$@"
open_study "$images" "$conv_images" "$tau" "$linear_steps" "$conv_steps" \
    "$linear_rate" "$conv_rate"
top=$study

# fixed_basis : the principal components of all views of this seed
fixed_basis() {
    local view files=()
    basis=$study/basis-$seed.npy
    [[ ! -e $basis ]] || return 0
    for view in 0 1; do
        files+=("$study/pixels-$seed-$view.npy")
        step foil-embed --raw --size 32 --recipe "$recipe" --seed "$seed" \
            --view "$view" -o "${files[view]}" "$part"
    done
    step foil-eval pca -k 64 -o "$basis.new.npy" "${files[@]}" \
        >"$study/basis-$seed.json"
    mv "$basis.new.npy" "$basis"
}

# fit_rate METHOD RATE STEPS : SGD whose rate falls from there to 0, times what
# makes the gradients of all objectives equally long: that of sogclr is 2 tau
# times that of the others
fit_rate() {
    local rate=$2 per
    per=$(batches_of "$part")
    [[ ${objective_of[$1]} != sogclr ]] || rate=$(work "$2 / (2 * $tau)")
    local epochs=$((($3 + per - 1) / per))
    local common_train=("${common_train[@]}" "--lr $rate" "--tau $tau"
        "--checkpoint-every $(($3 / points))")
    fit "$1" "$part"
}

# curve : exact loss and squared gradient at each checkpoint, which goes then
curve() {
    local folder
    printf '# step\tloss\tsquared gradient\tthe same as released\n'
    for folder in "$run"/step-*; do
        printf '%d' "$((10#${folder##*-}))"
        step foil-eval loss --tau "$tau" --views 2 --recipe "$recipe" \
            --seed "$seed" --threads "$threads" "$folder" "$part" |
            sed 's/.*"loss":\([^,]*\),"square_gradient":\([^,]*\),.*"released":{"loss":[^,]*,"square_gradient":\([^,]*\),.*/\t\1\t\2\t\3/'
        [[ $folder -ef $run/latest ]] || rm -r "$folder"
    done
}

trial() {
    if [[ $encoder == linear ]]; then
        fixed_basis
        local common_train=("${common_train[@]}" '--arch linear' '--head none'
            '--hidden 16' "--basis $basis")
        fit_rate "$1" "$linear_rate" "$linear_steps"
    else
        local common_train=("${common_train[@]}" '--arch resnet8' '--width 8'
            '--norm none' '--head 64-32')
        # shellcheck disable=SC2034 # blend reads it
        local common_augment=("--recipe $recipe" '--size 16'
            '--augmentations 2')
        fit_rate "$1" "$conv_rate" "$conv_steps"
    fi
    curve >"$run/curve.tsv"
    tail -n 1 "$run/curve.tsv" | {
        read -r _ loss gradient released
        result loss "$loss"
        result 'squared gradient' "$gradient"
        result 'log10 of it' "$(work "log($gradient) / log(10)")"
        result 'squared gradient as released' "$released"
    }
}

for encoder in ${encoders//,/ }; do
    study=$top/$encoder
    mkdir -p "$study"
    [[ $encoder == linear ]] || images=$conv_images
    subset "${operand[0]}" "$images"
    each trial
    gather
    echo "$encoder: $images images in two views, batches of $batch, tau $tau"
    echo
    table loss simclr
    table 'squared gradient' simclr %.2e
    table 'log10 of it' simclr
    table 'squared gradient as released' simclr %.2e
    draw_curves curves "the exact loss, $encoder" 2 loss linear \
        3 'squared gradient' log
done
