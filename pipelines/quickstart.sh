#!/usr/bin/env bash
# Train a small encoder on generated shapes, in seconds.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
epochs=4 batch=64 warm=1 augment=('--size 32')
train=('--arch resnet8' '--head 128-64' '--lr 0.1')

options '' "$@"
fresh_run
prepare
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
