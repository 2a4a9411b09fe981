#!/usr/bin/env bash
# Study: objectives for images and captions.
#
# Each objective trains the same encoders on TRAIN for --epochs; captions and
# images of TEST look for each other among all of TEST (R@1, R@5, R@10, by the
# rule equal of foil-eval(1); TR from image to caption, IR from caption to
# image).
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}/..}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
threads=1 batch=128 epochs=15 context=32 size=32 vocabulary='' caption=random
own=('caption first|random|all which caption of an image is learnt'
    'size N images are N x N'
    'vocabulary FILE of another run; else made of TRAIN')
# shellcheck source=pipelines/studies/lib.sh
. "$library/studies/lib.sh"
warmup=1
# shellcheck disable=SC2034 # lib.sh reads them
train=('--text bow:128' '--embed 128' '--arch resnet18' '--stem imagenet'
    '--width 32' '--optim adamw' '--lr 1e-3' '--weight-decay 0.05'
    '--checkpoint-every 0')
augment=('--recipe cifar,scale-min=0.5,jitter=0,grey=0' '--cache 600')

for name in clip cyclip siglip sogclr_bimodal isogclr_bimodal emc2_bimodal; do
    method "$name" "$name"
done
options 'TRAIN TEST' "$@"
augment+=("--caption $caption")
with_texts
open_study "$epochs" "$batch" "$size" "$context" "$vocabulary" "$caption"
indexed "${operand[0]}"
vocabulary_of "${operand[0]}"

trial() {
    fit_steps "$1" "${operand[0]}" "$((epochs * $(batches_of "${operand[0]}")))"
    judge_pairs "${operand[1]}"
}

each trial
gather
echo "$(samples_in "${operand[0]}") images, batches of $batch, $epochs epochs:"
echo
for measure in TR@1 IR@1 r_mean; do
    table "$measure" clip
done
table seconds
