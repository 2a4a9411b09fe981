#!/usr/bin/env bash
# SimCLR on hard batches: similar images share a batch.
#
# Batches are planned beside the training of an epoch, by clustering the
# features of the images in the previous one.  With TEST the encoder is
# judged as in simclr.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
batch=32 warm=5 select=('--strategy spectral' '--tau 0.5')
train=('--lr 0.06' '--checkpoint-every 2000')

options 'DATA [TEST]' "$@"
learn_and_judge "${operand[@]}"
