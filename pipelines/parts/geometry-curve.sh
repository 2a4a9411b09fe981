#!/bin/bash
# usage: geometry-curve.sh RUN IMAGES SEED KIND D BATCHES
#
# Measures all points of a run, of so many batches a step, and removes its checkpoints.
set -eu -o pipefail
run=$1 images=$2 seed=$3 kind=$4 d=$5 batches=$6

# measure STEP FOLDER OPTION... : of a checkpoint, a line of the curve
measure() {
    local view at=$1 folder=$2 log=$run/log/embed.log
    for view in 0 1; do
        foil-embed --layer z --view "$view" "${@:3}" --threads 1 \
            -o "$run/view$view.npy" "$folder" "$images" >>"$log" 2>&1
    done
    printf '%s\t' "$at"
    for view in 0 1; do
        od -An -v -t f4 -w$((4 * d)) -j 128 "$run/view$view.npy"
    done | awk -v kind="$kind" -v gram="$run/gram.txt" \
        -f "${0%/*}/geometry.awk"
}

printf '# step\tdistance\tfull loss\tloss of pairs\n'
measure 0 "$run/latest" --untrained -s "$seed"
for folder in "$run"/step-*; do
    updates=$((10#${folder##*-}))
    measure $((updates / batches)) "$folder"
done
for folder in "$run"/step-*; do
    [[ $folder -ef $run/latest ]] || rm -r "$folder"
done
