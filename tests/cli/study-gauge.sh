#!/usr/bin/env bash
# What studies judge does not depend on the length of the weights: with those of a
# trained encoder doubled, the primary measures of studies of negatives and of temperatures
# are the same, and the squared gradient is a quarter.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/studies.sh
. "${0%/*}/../studies.sh"
PATH=$BIN:$PATH
studies=${0%/*}/../../pipelines/studies
measure=${studies%/*}/parts/gradient-curves.sh

foil-data generate -o "$work/set.tar" 60 2>/dev/null
ok 'convergence trains a linear encoder' study convergence --images 40 --lengths 40 \
    --points 2 --seeds 1 --methods simclr --batch 4 "$work/set.tar"
part=$work/convergence/part.foil
mkdir "$work"/{one,two}
for run in one two; do
    cp -rL "$work/convergence/40/simclr-1/latest" "$work/$run/step-40"
done
ok 'its weights are doubled' /usr/bin/python3 "${0%/*}/double.py" "$work/two/step-40"

# judge_gradient RUN, judge_probe RUN : writes RUN/result, a line for each measure
judge_gradient() {
    bash "$measure" "$work/$1" 0.07 cifar,hue=0 1 1 "$part" 0 >"$work/$1/result"
}
judge_probe() {
    foil-embed -o "$work/$1.npy" "$work/$1/step-40" "$part" &&
        foil-eval probe --json "$work/$1.npy" "$work/$1.npy" |
        sed 's/.*"accuracy":\([^,]*\),.*/probe\t\1/' >>"$work/$1/result"
}
for run in one two; do
    ln -s step-40 "$work/$run/latest"
    ok "the gradient of encoder $run is measured" judge_gradient "$run"
    ok "the probe of encoder $run is measured" judge_probe "$run"
done

# of RUN MEASURE : prints its value
of() {
    sed -n "s/^$2\t//p" "$work/$1/result"
}
for study in gradient-norm convergence small-batch temperature; do
    primary=$(sed -n "s/^#: study *'\{0,1\}\([^']*\)'\{0,1\}$/\1/p" "$studies/$study")
    ok "$study has the same $primary" \
        test -n "$(of one "$primary")" -a "$(of one "$primary")" = "$(of two "$primary")"
done
ok 'the squared gradient is a quarter' \
    holds "($(of one 'squared gradient') / $(of two 'squared gradient') - 4)^2 < 1e-6"
done_testing
