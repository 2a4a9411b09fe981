#!/usr/bin/env bash
# SimCLR: the negatives of an image are the other images of its batch.
#
# With TEST the encoder is judged: nearest neighbours and a linear probe are
# taught on DATA and asked about TEST.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
train=('--lr 0.5' '--checkpoint-every 500') warm=5

options 'DATA [TEST]' "$@"
learn_and_judge "${operand[@]}"
