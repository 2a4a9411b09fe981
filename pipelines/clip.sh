#!/usr/bin/env bash
# CLIP: images and their captions, by an encoder of each.
#
# DATA has captions.  The vocabulary is made of them unless there is one.  With
# TEST, whose captions are not learnt, the encoders are judged: how often an
# image finds its caption and a caption its image; and where TEST has classes,
# how often the texts of the classes name that of an image, without a label.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
objective=clip epochs=30 batch=128 warm=1 context=32 size=32
vocabulary='' classes='' templates=''
# shellcheck disable=SC2034
own=('vocabulary FILE of another run, or CLIP'"'"'s; else made of DATA'
    'context N most tokens of a caption' 'size N images are N x N'
    'classes FILE names of the classes of TEST, as foil-embed(1) takes them'
    'templates FILE texts around such a name')
# shellcheck disable=SC2034
train=('--text bow:128' '--embed 128' '--arch resnet18' '--stem imagenet'
    '--width 32' '--optim adamw' '--lr 1e-3' '--weight-decay 0.05'
    '--schedule cosine' '--checkpoint-every 500')

# shellcheck disable=SC2034
# Crops are weak, as CLIP's: what a caption names must stay in the picture.
augment=('--recipe cifar,scale-min=0.9,jitter=0,grey=0')

options 'DATA [TEST]' "$@"
judged_by=captions
with_texts
prepare "${operand[@]}"
vocabulary_of "${operand[0]}"
learn "${operand[@]}"
[[ ${#operand[@]} -eq 1 ]] || judge_texts "${operand[1]}"
