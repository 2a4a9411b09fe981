#!/bin/sh
# usage: learn-linear.sh DATA SEED RECIPE OPTION...
#
# Trains a linear encoder on two fixed views of the images of DATA, with these options
# of learn.  The trainer has the views in memory: 64 principal components of the pixels,
# computed once for each seed.
set -eu
data=$1 seed=$2 recipe=$3
shift 3
rows=$STUDY/rows-$seed.npy
if [ ! -e "$rows" ]; then
    pixels=$STUDY/pixels-$seed
    for view in 0 1; do
        foil-embed --raw --size 32 --recipe "$recipe" --seed "$seed" --view "$view" \
            -o "$pixels-$view.npy" "$data"
    done
    foil-eval pca -k 64 -o "$STUDY/basis-$seed.npy" --coordinates "$rows.new.npy" \
        "$pixels-0.npy" "$pixels-1.npy" >"$STUDY/basis-$seed.json"
    mv "$rows.new.npy" "$rows"
fi
exec learn --seed "$seed" --train.arch "rows,hidden=16,rows=$rows" \
    --train '--head none --window 256' \
    --augment '--recipe none --size 8 --augmentations 2 --room 64' "$@" "$data"
