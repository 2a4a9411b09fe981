#!/usr/bin/env bash
# The study of geometry in its smallest form: what theory says about minima and the way
# to them holds.
# Trains a study in a minute: for make test-studies, and CI
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/studies.sh
. "${0%/*}/../studies.sh"

# The paper on mini-batches has free embeddings: 8 in 16 dimensions after 500 steps, 4 in
# 8 dimensions after 100.
ok 'geometry succeeds' study geometry --seeds 1 --points 2 --cases 8:16 --toy-seeds 2 \
    --methods full-end,fixed,sgd,code --steps 500
ok 'geometry of the hardest pairs succeeds' \
    study geometry --seeds 1 --points 2 --cases 4:8 \
    --toy-seeds 0 --methods fixed,sgd,osgd --steps 100 -r "$work/few"

# measured RUN MEASURE : prints it for the first seed
measured() {
    sed -n "s/^$2\t//p" "$work/$1-1/result.tsv"
}

eight=geometry/8-16 four=few/4-8
ok 'a batch of all reaches the simplex' holds \
    "$(measured $eight/full-end distance) < 1e-3"
ok 'a batch of all reaches the smallest loss' holds \
    "($(measured $eight/full-end 'full loss') - 2.346416318) ^ 2 < 1e-12"
ok 'spectral batches come near the simplex in 500 steps' holds \
    "$(measured $eight/code distance) < 0.2"
# random pairs are .03 above it; the order of sums changes the excess by half a 10^-4
ok 'spectral batches come near its loss' holds \
    "$(measured $eight/code 'full loss') - 2.346416318 < 1e-3"
ok 'random pairs do not reach the simplex in 500 steps' \
    holds "$(measured $eight/sgd distance) > 0.6"
ok 'a fixed partition of 8 does not reach the simplex' \
    holds "$(measured $eight/fixed distance) > 2.5"
ok 'the hardest pairs of four come near the simplex in 100 steps' holds \
    "$(measured $four/osgd distance) < 0.3"
ok 'random pairs of four do not reach the simplex in 100 steps' \
    holds "$(measured $four/sgd distance) > 0.4"
ok 'a fixed partition of four does not reach the simplex' \
    holds "$(measured $four/fixed distance) > 1.5"
ok 'geometry draws curves and heat maps' \
    pictures geometry 8-16/curves 8-16/grams toy/curves
# shellcheck disable=SC2016 # of awk
ok 'the hardest pairs turn the toy faster than random ones' awk '
    $1 == "osgd" { osgd = $2 } $1 == "sgd" { sgd = $2 }
    END { exit !(osgd > 0 && (sgd == "-" || osgd < sgd / 3)) }' \
    "$work/geometry/toy/table.txt"
done_testing
