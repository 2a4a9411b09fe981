#!/usr/bin/env bash
# Study: how far each objective minimises the exact global loss.
#
# As figure 7 of the EMC2 paper: some images of DATA in two fixed views, batches
# of four, plain SGD on a cosine schedule, the same effective step for every
# objective.  Measured is the exact global loss, over all rows of other images,
# and its squared gradient; also times the squared length of the weights, since
# the loss does not change with that length and the gradient falls with it.  The
# first encoder is linear on 64 principal components of the pixels, with 16
# outputs; these are rows that the trainer has in memory, and the chains are its
# own, so that a step waits for nobody.  The second is convolutional, a resnet8
# of width 8 without normalisation on views of 16x16, with fewer images, so that
# it converges.
#
# The last weights of a run have the noise of its last steps, most of it in the
# steepest directions.  So the mean of the weights over the last part of the run
# is measured, too (foil-train --average), for all methods alike.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}/..}/lib.sh"

threads=1 augmenters=1 batch=4 images=500 tau=0.2 points=10
encoders=linear,conv linear_steps=50000 conv_steps=60000 conv_images=100
linear_rate=1 conv_rate=0.03 recipe=cifar,hue=0 average=0.3
own=('images N of DATA' 'conv-images N for the convolutional encoder'
    'tau X temperature of all' 'points N of each curve'
    'encoders LIST linear, conv'
    'linear-steps N of each run of the linear encoder'
    'conv-steps N of each run of the convolutional one'
    'linear-rate X first learning rate of the linear encoder'
    'conv-rate X of the convolutional one'
    'average SHARE of the steps, the last: the mean of their weights')
primary='log10 of it'
# shellcheck source=pipelines/studies/lib.sh
. "$library/studies/lib.sh"
train=('--optim sgd' '--momentum 0' '--weight-decay 0' '--warmup 0'
    '--schedule cosine' '--keep 100000')
# shellcheck disable=SC2034 # lib.sh reads it
augment=("--recipe $recipe" '--size 32' '--augmentations 2')

method simclr simclr
method dcl dcl
method sogclr-.9 sogclr train='--gamma 0.9'
method sogclr-.1 sogclr train='--gamma 0.1'
row='--proposals row' # as the paper has it: 2b - 2 proposals a visit
method emc2-once emc2 chains='--proposals once --burn-in 0'
method emc2-fresh emc2 chains="$row --burn-in 0"
method emc2-fresh-P3 emc2 chains="$row --burn-in 3"
method emc2-stale emc2 chains="--scores stale $row --burn-in 3"
method emc2-reset emc2 chains="--scores reset $row --burn-in 3"
method emc2-bank emc2 chains='--proposals bank --burn-in 0'
method emc2-exact emc2 chains='--proposals exact'
method emc2-exact-bank emc2 chains='--proposals exact-bank'
method cache cache negatives='--filter --augmentations 2'
options DATA "$@"
open_study "$images" "$conv_images" "$tau" "$linear_steps" "$conv_steps" \
    "$linear_rate" "$conv_rate" "$average"
top=$study
# shellcheck disable=SC2034 # lib.sh reads it
parts=$(tr , '\n' <<<"$encoders" | wc -l)

# fixed_rows : all views of this seed, by their principal components
fixed_rows() {
    local view files=()
    rows=$study/rows-$seed.npy
    [[ ! -e $rows ]] || return 0
    for view in 0 1; do
        files+=("$study/pixels-$seed-$view.npy")
        step foil-embed --raw --size 32 --recipe "$recipe" --seed "$seed" \
            --view "$view" -o "${files[view]}" "$part"
    done
    step foil-eval pca -k 64 -o "$study/basis-$seed.npy" \
        --coordinates "$rows.new.npy" "${files[@]}" >"$study/basis-$seed.json"
    mv "$rows.new.npy" "$rows"
}

# place_chains METHOD : a method's chains are the trainer's own where it has the
# rows, else the service's
place_chains() {
    local chains=${said_of[$1.chains]-}
    [[ -n $chains ]] || return 0
    if [[ $encoder == conv ]]; then
        said_of[$1.negatives]=$chains
        [[ $chains == *--scores* ]] ||
            said_of[$1.negatives]+=' --filter --augmentations 2'
    elif [[ $chains == *--scores* ]]; then
        said_of[$1.train]=${chains/--scores/--sampler}
    else
        said_of[$1.train]="--sampler fresh $chains"
    fi
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
        "--average $average" "--checkpoint-every $(($3 / points))")
    fit "$1" "$part"
}

# measured CHECKPOINT [OPTION] : its exact loss, squared gradient, the same as
# released, and scale-free
measured() {
    local line value loss square released
    line=$(step foil-eval loss --tau "$tau" --views 2 --recipe "$recipe" \
        --seed "$seed" --threads "$threads" "${@:2}" "$1" "$part")
    field loss "$line"
    loss=$value
    field square_gradient "$line"
    square=$value
    field square_gradient "${line#*'"released"'}"
    released=$value
    field square_weight "$line"
    printf '%s\t%s\t%s\t%s\n' "$loss" "$square" "$released" \
        "$(work "$square * $value")"
}

# curves : curve.tsv, that of each checkpoint, and mean.tsv, by the mean of the
# weights where it has one; the checkpoint goes then
curves() {
    local folder at
    printf '# step\tloss\tsquared gradient\tthe same as released\tscale-free\n' |
        tee "$run/mean.tsv" >"$run/curve.tsv"
    for folder in "$run"/step-*; do
        at=$((10#${folder##*-}))
        printf '%d\t%s\n' "$at" "$(measured "$folder")" >>"$run/curve.tsv"
        [[ ! -e $folder/average.safetensors ]] || printf '%d\t%s\n' "$at" \
            "$(measured "$folder" --average)" >>"$run/mean.tsv"
        [[ $folder -ef $run/latest ]] || rm -r "$folder"
    done
}

trial() {
    place_chains "$1"
    if [[ $encoder == linear ]]; then
        fixed_rows
        local common_train=("${common_train[@]}" '--arch rows' '--head none'
            '--hidden 16' "--rows $rows" '--window 256')
        # shellcheck disable=SC2034 # blend reads it: nobody looks at the pixels
        local common_augment=('--recipe none' '--size 8' '--augmentations 2'
            '--room 64')
        fit_rate "$1" "$linear_rate" "$linear_steps"
    else
        local common_train=("${common_train[@]}" '--arch resnet8' '--width 8'
            '--norm none' '--head 64-32')
        # shellcheck disable=SC2034 # blend reads it
        local common_augment=("--recipe $recipe" '--size 16'
            '--augmentations 2')
        fit_rate "$1" "$conv_rate" "$conv_steps"
    fi
    curves
    tail -n 1 "$run/curve.tsv" | cut -f 2- | results ''
    [[ $(work "$average > 0") -eq 0 ]] ||
        tail -n 1 "$run/mean.tsv" | cut -f 2- | results 'mean: '
}

# results PREFIX : what was measured, by name
results() {
    local loss gradient released free
    read -r loss gradient released free
    result "$1loss" "$loss"
    result "$1squared gradient" "$gradient"
    result "$1log10 of it" "$(work "log($gradient) / log(10)")"
    result "$1scale-free" "$free"
    result "$1log10 of scale-free" "$(work "log($free) / log(10)")"
    [[ $1 ]] || result 'squared gradient as released' "$released"
}

# times MEASURE : how many times below that of simclr, seed by seed
times() {
    awk -F '\t' -v measure="$1" '
        $3 == measure {
            if (!($1 in seen))
                method[++methods] = $1
            if (!($2 in is_seed))
                seed[++seeds] = $2
            seen[$1] = is_seed[$2] = 1
            x[$1, $2] = $4
        }
        END {
            if (!("simclr" in seen))
                exit
            printf "%-31s", "simclr / " measure
            for (j = 1; j <= seeds; j++)
                printf " %6s%d", "seed ", seed[j]
            printf "\n"
            for (i = 1; i <= methods; i++) {
                printf "%-31s", method[i]
                for (j = 1; j <= seeds; j++) {
                    y = x[method[i], seed[j]]
                    base = x["simclr", seed[j]]
                    printf " %7s", y && base ? sprintf("%.3g", base / y) : "-"
                }
                printf "\n"
            }
            printf "\n"
        }' "$study/results.tsv" | tee -a "$study/table.txt"
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
    # noise grows with the measure, so that it is its logarithm that is judged
    table 'squared gradient' '' %.2e
    times 'squared gradient'
    table 'log10 of it' simclr
    table scale-free '' %.2e
    times scale-free
    table 'log10 of scale-free' simclr
    table 'squared gradient as released' '' %.2e
    if [[ $(work "$average > 0") -eq 1 ]]; then
        echo "the mean of the weights over the last $average of the steps:"
        echo
        table 'mean: loss' simclr
        table 'mean: squared gradient' '' %.2e
        times 'mean: squared gradient'
        table 'mean: log10 of it' simclr
        table 'mean: scale-free' '' %.2e
        times 'mean: scale-free'
        table 'mean: log10 of scale-free' simclr
    fi
    claim_of[3]="simclr 100 a hundred times below simclr"
    claim_of[5]=${claim_of[3]}
    draw_curves curves "the exact loss, $encoder" 2 loss linear \
        3 'squared gradient' log 5 'the same, scale-free' log
done
