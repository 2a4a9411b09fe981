#!/usr/bin/env bash
# Train on CIFAR-10 and evaluate: TRAIN and TEST are tars of JPEGs.
#
# foil-data import cifar10 makes such tars from the binaries.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
epochs=12 batch=128 warm=1
train=('--arch resnet20' '--head 256-128-bn' '--precision auto' '--lr 0.2'
    '--weight-decay 2e-4' '--checkpoint-every 780')
# shellcheck disable=SC2034
augment=('--recipe cifar' '--size 32')

options 'TRAIN TEST' "$@"
learn_and_judge "${operand[@]}"
draw_loss
