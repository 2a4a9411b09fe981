#!/usr/bin/env bash
# EMC2: a Markov chain for each image finds the negatives that are hard.
#
# The chains live in foil-negatives, beside the trainer.  With TEST the encoder
# is judged as in simclr.
# shellcheck source=pipelines/lib.sh
. "${0%/*}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads it
objective=emc2
train=('--tau 0.2' '--lr 0.5' '--warmup 5' '--checkpoint-every 500')

options 'DATA [TEST]' "$@"
learn "${operand[0]}"
[[ -z ${operand[1]-} ]] || judge "${operand[@]}"
