#!/usr/bin/env bash
# The result of the study of gradients on real images: by the exact global loss, EMC2
# with fresh scores ends far below SimCLR and SogCLR, with stale scores above (linear
# encoder, 500 images, batches of 4, seed 1).
# Trains a study: for make test-studies
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1

images=$shared/data/cifar10-train.tar
if [[ ! -f $images ]]; then
    skip 'the study of gradients' "no $images"
    done_testing
fi
if [[ ${B-} == asan ]]; then
    skip 'the study of gradients' 'too slow with sanitizers'
    done_testing
fi

"$BIN/foil-data" index -o "$work/set.foil" "$images" 2>/dev/null
ok 'the study of gradients succeeds' \
    "$BIN/foil" run studies/gradient-norm -r "$work/run" --points 1 \
    --encoders linear --linear-steps 50000 --seeds 1 \
    --methods simclr,sogclr-.9,emc2-fresh,emc2-stale "$work/set.foil"

# of METHOD MEASURE : prints its value
of() {
    sed -n "s/^$2\t//p" "$work/run/linear/$1-1/result.tsv"
}

gradient='squared gradient'
fresh=$(of emc2-fresh "$gradient")
ok 'EMC2 has below a quarter of the squared gradient of SimCLR' \
    holds "$fresh < $(of simclr "$gradient") / 4"
ok 'EMC2 has below half of the squared gradient of SogCLR' \
    holds "$fresh < $(of sogclr-.9 "$gradient") / 2"
mean=$(of emc2-fresh "mean: $gradient")
# the rest is the bias of --proposals row
ok "the mean of EMC2's last weights has a smaller gradient" holds "$mean < $fresh * .75"
ok "the mean of SimCLR's last weights has no smaller gradient" \
    holds "$(of simclr "mean: $gradient") > $(of simclr "$gradient") / 2"
ok 'EMC2 has a lower loss than SimCLR' \
    holds "$(of emc2-fresh loss) < $(of simclr loss) - .03"
ok 'EMC2 with stale scores has no smaller gradient' \
    holds "$(of emc2-stale "$gradient") > $(of simclr "$gradient") / 2"
ok 'EMC2 with stale scores has a higher loss than SimCLR' \
    holds "$(of emc2-stale loss) > $(of simclr loss) + .03"
done_testing
