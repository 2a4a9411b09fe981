#!/usr/bin/env bash
# Study: objectives at small batches, in equal time.
#
# Each method trains for --budget seconds on --images images of TRAIN, with
# each seed; nearest neighbours and a linear probe, taught on these images, are
# asked about all of TEST.  Negatives of EMC2 come from foil-negatives, whose
# chains reach beyond the batch: with scores computed anew (fresh), with the
# score a state had when it was accepted (stale), or from a new start in every
# batch (reset); these get every row of other images as a proposal.  once, bank
# and exact are the other --proposals; P0, P.5 and P1 leave out no proposal of a
# visit, half of b and b of the 2b - 2 (--burn-in).
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}/..}/lib.sh"

epochs=0 batch=32 threads=1 budget=40 images=10000
own=('budget S seconds of training for each method and seed'
    'images N how many of TRAIN; 0: all')
primary=probe
# shellcheck source=pipelines/studies/lib.sh
. "$library/studies/lib.sh"
warmup=1
train=('--arch resnet8' '--head 128-64' '--precision auto' '--tau 0.2'
    '--optim adam' '--lr 0.001' '--checkpoint-every 0')
# shellcheck disable=SC2034 # lib.sh reads it
augment=('--recipe cifar' '--size 32' '--cache 200')

method simclr simclr
method dcl dcl
method sogclr-.9 sogclr train='--gamma 0.9'
method sogclr-.1 sogclr train='--gamma 0.1'
method isogclr isogclr train='--rho 0.8 --eta 0.03'
method emc2-fresh emc2 negatives='--filter --scores fresh --proposals row'
method emc2-stale emc2 negatives='--scores stale --proposals row'
method emc2-reset emc2 negatives='--scores reset --proposals row'
method emc2-once emc2 negatives='--filter --proposals once --burn-in 0'
method emc2-bank emc2 negatives='--filter --proposals bank --burn-in 0'
method emc2-exact emc2 negatives='--filter --proposals exact'
method cache cache negatives='--filter'
for share in 0 .5 1; do
    method "emc2-P$share" emc2
done

options 'TRAIN TEST' "$@"
for share in 0 .5 1; do
    said_of[emc2-P$share.negatives]="--filter --proposals row --burn-in $(
        work "int($share * $batch)")"
done
open_study "$epochs" "$batch" "$budget" "$images"
subset "${operand[0]}" "$images"
[[ $epochs -gt 0 ]] || calibrate "$part" "$budget"

trial() {
    if [[ $epochs -gt 0 ]]; then
        fit "$1" "$part"
    else
        fit_steps "$1" "$part" "${steps_of[$1]}"
    fi
    judge_run "$part" "${operand[1]}"
    result steps "$(grep -c . "$run/metrics.jsonl")"
}

each trial
gather
echo "$images images, batches of $batch, $budget seconds a run:"
echo
for measure in 1-NN 10-NN probe; do
    table "$measure" simclr
done
table seconds
table steps
