# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with lib.sh
#
# Sourced by the studies of images and captions, in place of lib.sh beside it:
# the encoders that they train and the crops that they learn from.

threads=1 context=32 size=32 vocabulary='' caption=random
own=('caption first|random|all which caption of an image is learnt'
    'size N images are N x N'
    'vocabulary FILE of another run; else made of TRAIN' "${own[@]}")
# shellcheck source=pipelines/studies/lib.sh
. "$library/studies/lib.sh"
warmup=1
train=('--text bow:128' '--embed 128' '--arch resnet18' '--stem imagenet'
    '--width 32' '--optim adamw' '--lr 1e-3' '--weight-decay 0.05'
    '--checkpoint-every 0')
# Crops are weak, as in clip.sh.
augment=('--recipe cifar,scale-min=0.9,jitter=0,grey=0' '--cache 600')

# open_pairs TRAIN SETTING... : begin, with the vocabulary of TRAIN
open_pairs() {
    augment+=("--caption $caption")
    with_texts
    open_study "${@:2}" "$size" "$context" "$vocabulary" "$caption"
    indexed "$1"
    vocabulary_of "$1"
}

# pairs_trial METHOD TRAIN TEST : train for all epochs, and judge
pairs_trial() {
    fit_steps "$1" "$2" "$((epochs * $(batches_of "$2")))"
    judge_pairs "$3"
}
