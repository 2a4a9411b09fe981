#!/usr/bin/env bash
# The smallest run that learns: generated shapes, a small encoder, seconds.
# shellcheck source=pipelines/lib.sh
. "${0%/*}/lib.sh"

epochs=4 batch=64
# shellcheck disable=SC2034 # lib.sh reads it
augment=('--size 32')
train=('--arch resnet8' '--head 128-64' '--tau 0.5' '--lr 0.1' '--warmup 1')

options '' "$@"
fresh_run
mkdir -p "$run"
chmod 700 "$run"
if [[ ! -e $run/shapes.tar.foil ]]; then
    step foil-data generate --seed "$seed" -o "$run/shapes.tar" 2000
    step foil-data index "$run/shapes.tar"
    step foil-data split --share 0.8 --seed "$seed" "$run/shapes.tar" \
        "$run/train.foil" "$run/test.foil"
fi
learn "$run/train.foil"
features train "$run/train.foil"
features test "$run/test.foil"
step foil-eval knn -k 10 "$run"/embedded/{train,test}.npy
