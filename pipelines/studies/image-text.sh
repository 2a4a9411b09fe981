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
batch=128 epochs=15 primary=r_mean
# shellcheck source=pipelines/studies/pairs.bash
. "$library/studies/pairs.bash"

for name in clip cyclip siglip sogclr_bimodal isogclr_bimodal emc2_bimodal; do
    method "$name" "$name"
done
options 'TRAIN TEST' "$@"
open_pairs "${operand[0]}" "$epochs" "$batch"

trial() {
    pairs_trial "$1" "${operand[@]}"
}

each trial
gather
echo "$(samples_in "${operand[0]}") images, batches of $batch, $epochs epochs:"
echo
for measure in TR@1 IR@1 r_mean; do
    table "$measure" clip
done
table seconds
