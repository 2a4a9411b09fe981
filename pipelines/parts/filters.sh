#!/bin/sh
# usage: filters.sh DATA SIZE FILE
#
# Writes the 16 principal directions of the patches of 3x3 pixels in views of that size
# of up to 1,000 images: for --arch resnet8,width=32,basis=FILE.
set -eu
data=$1
if [ "$("$PARTS/samples.sh" "$data")" -gt 1000 ]; then
    foil-data split -n 1000 "$data" "$3.foil" "$3.rest"
    data=$3.foil
fi
foil-embed --raw --recipe cifar --view 0 --size "$2" --threads "$THREADS" -o "$3.pixels.npy" \
    "$data"
foil-eval pca --no-record --threads "$THREADS" --patch 3 -k 16 -o "$3" "$3.pixels.npy" >&2
rm -f "$3.foil" "$3.rest" "$3".pixels*.npy
