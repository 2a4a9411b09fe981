#!/usr/bin/env bash
# SimCLR: the negatives of an image are all other images of its batch.
#
# With TEST the encoder is judged: nearest neighbours and a linear probe are
# taught on DATA and asked about TEST.
# shellcheck source=pipelines/lib.sh
. "${0%/*}/lib.sh"

objective=simclr
train=('--tau 0.5' '--lr 0.5' '--warmup 5' '--checkpoint-every 500')

options 'DATA [TEST]' "$@"
learn "${operand[0]}"
[[ -z ${operand[1]-} ]] || judge "${operand[@]}"
