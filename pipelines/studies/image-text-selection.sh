#!/usr/bin/env bash
# Study: batches of images and captions that are hard to tell apart.
#
# CLIP on TRAIN with batches by each strategy, of 32 and of 128; judged on TEST
# as in studies/image-text.  An image and its caption are the two views that
# foil-select(1) plans by, in each epoch from the features of the one before.
# `apart` keeps images with the same caption, which are no negatives of each
# other, out of one batch.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}/..}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
epochs=12 sizes=32,128 primary=r_mean
own=('sizes LIST of batches')
# shellcheck source=pipelines/studies/pairs.bash
. "$library/studies/pairs.bash"
# shellcheck disable=SC2034
select=('--tau 0.07' '--lag 1')

method shuffle clip
method spectral clip select='--strategy spectral'
method swap clip select='--strategy swap'
method swap-.5 clip select='--strategy swap --hardness 0.5'
method swap-.5-apart clip select='--strategy swap --hardness 0.5' # and below
options 'TRAIN TEST' "$@"
open_pairs "${operand[0]}" "$epochs" "$sizes"

# captions that are equal, by the samples that share one
groups=$study/groups.npy
if [[ $methods == *-apart* ]]; then
    [[ -e $groups ]] || step foil-data group --by caption -o "$groups" \
        "${operand[0]}"
    said_of[swap-.5-apart.select]+=" --avoid $groups"
fi

trial() {
    pairs_trial "$1" "${operand[@]}"
}

top=$study
# shellcheck disable=SC2034 # lib.sh reads it
parts=$(tr , '\n' <<<"$sizes" | wc -l)
for batch in ${sizes//,/ }; do
    study=$top/$batch
    mkdir -p "$study"
    each trial
    gather
    echo "$(samples_in "${operand[0]}") images, batches of $batch," \
        "$epochs epochs:"
    echo
    for measure in TR@1 IR@1 TR@10 IR@10 r_mean; do
        table "$measure" shuffle
    done
    table seconds
done
