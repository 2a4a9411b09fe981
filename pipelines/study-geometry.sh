#!/usr/bin/env bash
# The geometry of the least loss: free embeddings under each choice of batches.
#
# N images have free embeddings of d dimensions, which infonce moves at
# temperature 1, by plain SGD of rate 0.5 in batches of two, as in the
# experiments of the mini-batch paper.  In theory the loss is least where
# cosines form a simplex (d = 2N), or a cross-polytope (d = N / 2).  Each choice
# of batches is measured by its distance from there, and by its loss over one
# batch of all and over all pairs.  A step is an update by one batch (full) or
# by the mean of all pairs (pairs), or N / 2 updates by a pair each.
# shellcheck source=pipelines/lib.sh
. "${0%/*}/lib.sh"

threads=1 augmenters=1 steps=500 points=20 cases=8:16,8:4,4:8,4:2,16:32,16:8
own=('steps N of each run' 'points N of each curve'
    'cases LIST N:d, by commas')
# shellcheck source=pipelines/study-lib.sh
. "${0%/*}/study-lib.sh"
train=('--arch table' '--tau 1' '--optim sgd' '--momentum 0' '--lr 0.5'
    '--weight-decay 0' '--warmup 0' '--schedule constant' '--keep 100000')
# shellcheck disable=SC2034 # lib.sh reads it
augment=('--recipe none' '--size 8')
now='--features eval --lag 0 --tau 1'

method full infonce
method pairs infonce
method fixed infonce select='--strategy fixed'
method sgd infonce select='--strategy shuffle'
method osgd infonce select="--strategy osgd-full --top 1 $now"
method spectral infonce select="--strategy spectral $now"
method code infonce select="--strategy spectral --variant code $now"
method swap infonce select="--strategy swap $now"
seeds=3
options '' "$@"
open_study "$steps" "$points" "$cases"

# settings METHOD : what a step is: the size of a batch, batches and epochs of a
# step
settings() {
    batch=2 batches=$((n / 2)) of_step=1
    case $1 in
    full) batch=$n batches=1 ;;
    pairs) batches=$((n * (n - 1) / 2)) ;;
    osgd) of_step=$batches ;;
    esac
}

# measure STEP FOLDER OPTION... : of a checkpoint, a line of the curve
measure() {
    local view at=$1 folder=$2 log=$run/log/embed.log
    for view in 0 1; do
        step foil-embed --layer z --view "$view" "${@:3}" --threads 1 \
            -o "$run/view$view.npy" "$folder" "$images" >>"$log" 2>&1
    done
    printf '%s\t' "$at"
    for view in 0 1; do
        od -An -v -t f4 -w$((4 * d)) -j 128 "$run/view$view.npy"
    done | awk -v kind="$kind" -v gram="$run/gram.txt" \
        -f "${0%/*}/study-geometry.awk"
}

# curve : all points of a run, which is measured; its checkpoints go
curve() {
    local folder updates
    printf '# step\tdistance\tfull loss\tloss of pairs\n'
    measure 0 "$run/latest" --untrained -s "$seed"
    for folder in "$run"/step-*; do
        updates=$((10#${folder##*-}))
        measure $((updates / batches)) "$folder"
    done
    for folder in "$run"/step-*; do
        [[ $folder -ef $run/latest ]] || rm -r "$folder"
    done
}

trial() {
    local batch batches of_step said=${said_of[$1.select]-}
    settings "$1"
    local every=$((batches * (steps > points ? steps / points : 1)))
    local epochs=$((steps * of_step))
    case $1 in
    pairs) said="--strategy osgd-full --draws $batches --top $batches $now" ;;
    osgd) said+=" --draws $((n * (n - 1) / 2))" ;;
    esac
    local -A said_of=([$1.select]=$said [$1.train]="--hidden $d
        --checkpoint-every $every")
    [[ $1 != pairs ]] || said_of[$1.train]+=" --accumulate $batches"
    fit "$1" "$images"
    curve >"$run/curve.tsv"
    tail -n 1 "$run/curve.tsv" | {
        read -r _ distance loss pairs
        result distance "$distance"
        result 'full loss' "$loss"
        result 'loss of pairs' "$pairs"
    }
}

# optima : as theory has them, for n and d
optima() {
    awk -v n="$n" -v kind="$kind" 'BEGIN {
        if (kind == "simplex") {
            full = 2 * log(1 + (n - 1) * exp(-n / (n - 1)))
            pairs = 2 * log(1 + exp(-n / (n - 1)))
        } else {
            full = 2 * log(1 + (n - 2) * exp(-1) + exp(-2))
            pairs = ((n - 2) * 2 * log(1 + exp(-1)) + 2 * log(1 + exp(-2))) \
                / (n - 1)
        }
        printf "%.9f %.9f\n", full, pairs
    }'
}

top=$study
for case in ${cases//,/ }; do
    n=${case%:*} d=${case#*:} kind=simplex
    [[ $d -ge $((n - 1)) ]] || kind=cross
    images=$top/images-$n.tar study=$top/$n-$d
    mkdir -p "$study"
    if [[ ! -e $images.foil ]]; then
        step foil-data generate --size 8 -o "$images" "$n"
        step foil-data index "$images"
    fi
    each trial
    gather
    read -r full pairs < <(optima)
    echo "$n images, $d dimensions: a $kind, full loss $full, pairs $pairs"
    echo
    table distance
    table 'full loss' '' %.7f
    table 'loss of pairs' '' %.7f
    draw_curves curves "$n images, $d dimensions" 2 distance log \
        3 'full loss' linear 4 'mean loss of pairs' linear
done
