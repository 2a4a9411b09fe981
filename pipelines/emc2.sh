#!/usr/bin/env bash
# EMC2: negatives sampled by Markov chains, one for each view of an image.
#
# The chains live in foil-negatives, beside the trainer, and between selector
# and augmenters, so that the images at which they stand can come along from
# outside of the batch.  With TEST the encoder is judged as in simclr.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
objective=emc2 filter=yes warm=5
train=('--lr 0.5' '--checkpoint-every 500') tuned=('--tau 0.2')
# shellcheck disable=SC2034
own=('filter yes|no whether images from outside of the batch come along')

options 'DATA [TEST]' "$@"
[[ $filter == yes || $filter == no ]] ||
    misuse "--filter '$filter': want yes or no"
learn_and_judge "${operand[@]}"
