#!/bin/sh
# usage: filters.sh DATA SIZE K FILE
#
# Writes the first K principal directions of the patches of 3x3 pixels in views of that
# size of up to 1,000 images: for --arch resnet8,width=2K,basis=FILE.  Fails if the patches
# have fewer, as those of grey images.
set -eu
data=$1
if [ "$("$PARTS/samples.sh" "$data")" -gt 1000 ]; then
    foil-data split -n 1000 "$data" "$4.foil" "$4.rest"
    data=$4.foil
fi
foil-embed --raw --recipe cifar --view 0 --size "$2" --threads "$THREADS" -o "$4.pixels.npy" \
    "$data"
foil-eval pca --json --no-record --threads "$THREADS" --patch 3 -k "$3" -o "$4.new" \
    "$4.pixels.npy" >"$4.json"
sed 's/.*"first_deviation":\([^,]*\),"last_deviation":\([^,}]*\).*/\1 \2/' "$4.json" |
    awk '{ exit $2 < 1e-3 * $1 }' && mv "$4.new" "$4"
rm -f "$4.foil" "$4.rest" "$4.new" "$4.json" "$4.pixels".*
[ -e "$4" ]
