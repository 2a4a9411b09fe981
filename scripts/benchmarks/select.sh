#!/usr/bin/env bash
# select.sh: batches planned from features of 128 dimensions, tau = .1, B = 32,
# against spectral clustering with scikit-learn, SciPy (the published method,
# with its code's matrix): a block of 40 batches, an epoch of 50,000 samples
# (39 blocks for the peer), and the assignment alone.  One thread each, except in the lines -2T; one is run after the other,
# REPEAT times, and the medians are compared.  Lines -loss have mean batch
# losses, -cost the total cost of the assignment.
set -eu
here=$(dirname "$0")
bench=${BENCH:-build/release/tests/bench}/bench_select
repeat=${REPEAT:-3}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

wants select sklearn scipy
scratch
peer() { "$python" "$here/select_peer.py" "$@"; }

# line NAME OURS UNIT PEER : more is better where UNIT is loss
line() {
    awk -v ours="$2" -v peer="$4" -v unit="$3" -v name="$1" 'BEGIN {
        ratio = unit == "s" ? peer / ours : ours / peer
        printf "bench %s ours %s %s peer %s ratio %.*f\n", name, ours, unit,
            peer, unit == "cost" ? 7 : 2, ratio
    }'
}

# pair NAME WHAT OURS PEER : two lines, of seconds and of what else was printed
pair() {
    line "$1" "$(median 1 <<<"$3")" s "$(median 1 <<<"$4")"
    line "$1-$2" "$(median 2 <<<"$3")" "$2" "$(median 2 <<<"$4")"
}

for kind in 'random 0' 'clustered 100'; do
    read -r name classes <<<"$kind"
    declare -A ours=()
    mkdir "$work/one" "$work/all"
    peer make "$work/one" 1280 "$classes"
    peer make "$work/all" 50000 "$classes"
    one=("$work/one/u.npy" "$work/one/v.npy" 32 .1 40)
    all=("$work/all/u.npy" "$work/all/v.npy" 32 .1 40)
    for ((i = 0; i < repeat; i++)); do
        end=${ours[peer]:+$'\n'}
        ours[spectral]+=$end$("$bench" plan "${one[@]}" 1 spectral)
        ours[spectral-code]+=$end$("$bench" plan "${one[@]}" 1 spectral code)
        ours[swap]+=$end$("$bench" plan "${one[@]}" 1 swap)
        ours[peer]+=$end$(peer plan "$work/one" 32 .1)
        ours[assign]+=$end$("$bench" assign "$work/one/cost.npy" 32)
        ours[match]+=$end$(peer assign "$work/one" 32)
    done
    for how in spectral spectral-code swap; do
        pair "select-$how-$name" loss "${ours[$how]}" "${ours[peer]}"
    done
    pair "select-assign-$name" cost "${ours[assign]}" "${ours[match]}"
    epoch=$(median 1 <<<"${ours[peer]}" | awk '{ print 39 * $1 }')
    for how in spectral swap; do
        for threads in 1 2; do
            line "select-epoch-$how-$name-${threads}T" \
                "$("$bench" plan "${all[@]}" "$threads" "$how" | median 1)" s \
                "$epoch"
        done
    done
    rm -r "$work/one" "$work/all"
done
