#!/usr/bin/env bash
# What the study of gradients is for, on real images: by the exact global loss
# EMC2 with fresh scores ends far below SimCLR and SogCLR, with stale ones above
# (the linear encoder, 500 images, batches of 4; seed 1).
# Trains a study: for make test-studies
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1

images=$shared/data/cifar10-train.tar
if [[ ! -f $images ]]; then
    skip 'gradients of the global loss' "no $images"
    done_testing
fi
if [[ ${B-} == asan ]]; then
    skip 'gradients of the global loss' 'too slow with sanitizers'
    done_testing
fi

"$BIN/foil-data" index -o "$work/set.foil" "$images" 2>/dev/null
ok 'the study' "$BIN/foil" run studies/gradient-norm -r "$work/run" --points 1 \
    --encoders linear --linear-steps 50000 --seeds 1 \
    --methods simclr,sogclr-.9,emc2-fresh,emc2-stale "$work/set.foil"

# of METHOD MEASURE : its value
of() {
    sed -n "s/^$2\t//p" "$work/run/linear/$1-1/result.tsv"
}

gradient='squared gradient'
fresh=$(of emc2-fresh "$gradient")
ok 'a quarter of the squared gradient of SimCLR' \
    holds "$fresh < $(of simclr "$gradient") / 4"
ok 'half of that of SogCLR with gamma .9' \
    holds "$fresh < $(of sogclr-.9 "$gradient") / 2"
mean=$(of emc2-fresh "mean: $gradient")
# what is left of it is the bias of --proposals row
ok 'the mean of its last weights has less' holds "$mean < $fresh * .75"
ok 'which is no gain to SimCLR: its error is bias' \
    holds "$(of simclr "mean: $gradient") > $(of simclr "$gradient") / 2"
ok 'a lower loss' holds "$(of emc2-fresh loss) < $(of simclr loss) - .03"
ok 'but not with stale scores' \
    holds "$(of emc2-stale "$gradient") > $(of simclr "$gradient") / 2"
ok 'whose loss is higher' \
    holds "$(of emc2-stale loss) > $(of simclr loss) + .03"
done_testing
