#!/usr/bin/env bash
# EMC2: a Markov chain for each image finds the negatives that are hard.
#
# The chains live in foil-negatives, beside the trainer, and between selector
# and augmenters, so that the images at which they stand can come along from
# outside of the batch.  With TEST the encoder is judged as in simclr.
# shellcheck source=pipelines/lib.sh
. "${0%/*}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
train=('--tau 0.2' '--lr 0.5' '--warmup 5' '--checkpoint-every 500')
method=emc2 filter=yes
# shellcheck disable=SC2034
own=('method NAME emc2, or cache: draws from a bank of features'
    'filter yes|no whether images from outside of the batch come along')

options 'DATA [TEST]' "$@"
[[ $method == emc2 || $method == cache ]] ||
    misuse "--method '$method': want emc2 or cache"
[[ $filter == yes || $filter == no ]] ||
    misuse "--filter '$filter': want yes or no"
# shellcheck disable=SC2034
objective=$method negatives=("--method $method")
[[ $filter == no ]] || negatives+=('--filter')
learn "${operand[0]}"
[[ -z ${operand[1]-} ]] || judge "${operand[@]}"
