#!/usr/bin/env bash
# Photos: SimCLR on views of 96, 160 or 224 pixels.
#
# DATA is a folder of photos, of any depth and size.  The first layer of the
# ResNet-18 follows the size; views go through it so many at a time that a step
# takes about as much memory at any size.  With TEST the encoder is judged as in
# simclr.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
size=96 batch=128 warm=10
own=('size N width and height of the views')
train=('--arch resnet18' '--lr 0.5' '--schedule cosine'
    '--checkpoint-every 500')

options 'DATA [TEST]' "$@"
[[ $size -ge 32 && $size -le 512 ]] || misuse "--size '$size': want 32 to 512"
# shellcheck disable=SC2034
augment=('--recipe imagenet' "--size $size")
rows=$((64 * 224 * 224 / (size * size)))
[[ $rows -ge $((2 * batch)) ]] || train+=("--micro-batch $rows")
learn_and_judge "${operand[@]}"
