#!/usr/bin/env bash
# select.sh: batches planned from features of 128 dimensions, tau = .1, B = 32,
# against spectral clustering with scikit-learn, SciPy (the method as it was
# published, with its code's matrix): a block of 40 batches, an epoch of 50,000
# samples (of which the peer's time is that of 39 blocks), and the assignment
# alone.  One thread each, but for the lines -2T; one is run after the other,
# REPEAT times, and the medians are compared.  Lines -loss have mean batch
# losses, -cost the total cost of the assignment.
set -eu
here=$(dirname "$0")
bench=${BENCH:-build/release/tests/bench}/bench_select
python=/usr/bin/python3
repeat=${REPEAT:-3}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

if ! "$python" -c 'import sklearn, scipy' 2>/dev/null; then
    echo 'bench select skipped: no python3-sklearn'
    exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
peer() { "$python" "$here/select_peer.py" "$@"; }

# column WHICH : the median of a column
column() {
    awk -v c="$1" '{ print $c }' | sort -n |
        awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

# line NAME OURS UNIT PEER : more is better where UNIT is loss
line() {
    awk -v ours="$2" -v peer="$4" -v unit="$3" -v name="$1" 'BEGIN {
        ratio = unit == "s" ? peer / ours : ours / peer
        printf "bench %s ours %s %s peer %s ratio %.*f\n", name, ours, unit,
            peer, unit == "cost" ? 7 : 2, ratio
    }'
}

# compare NAME WHAT REPEAT OURS... -- PEER... : seconds, then the other number
compare() {
    local name=$1 what=$2 times=$3 ours='' theirs='' i
    local -a mine=()
    shift 3
    while [[ $1 != -- ]]; do mine+=("$1"); shift; done
    shift
    for ((i = 0; i < times; i++)); do
        ours+=$("$bench" "${mine[@]}")$'\n'
        theirs+=$(peer "$@")$'\n'
    done
    ours=${ours%$'\n'} theirs=${theirs%$'\n'}
    line "$name" "$(column 1 <<<"$ours")" s "$(column 1 <<<"$theirs")"
    line "$name-$what" "$(column 2 <<<"$ours")" "$what" \
        "$(column 2 <<<"$theirs")"
}

for kind in 'random 0' 'clustered 100'; do
    read -r name classes <<<"$kind"
    mkdir "$work/$name"
    peer make "$work/$name" 1280 "$classes"
    files=("$work/$name/u.npy" "$work/$name/v.npy")
    for strategy in spectral 'spectral code' swap; do
        read -ra how <<<"$strategy"
        compare "select-${strategy/ /-}-$name" loss "$repeat" \
            plan "${files[@]}" 32 .1 40 1 "${how[@]}" -- \
            plan "$work/$name" 32 .1
    done
    compare "select-assign-$name" cost "$repeat" \
        assign "$work/$name/cost.npy" 32 -- assign "$work/$name" 32
    block=$(peer plan "$work/$name" 32 .1 | column 1)
    mkdir "$work/all"
    peer make "$work/all" 50000 "$classes"
    for threads in 1 2; do
        for how in spectral swap; do
            ours=$("$bench" plan "$work/all/u.npy" "$work/all/v.npy" 32 .1 40 \
                "$threads" "$how" | column 1)
            line "select-epoch-$how-$name-${threads}T" "$ours" s \
                "$(awk "BEGIN { print 39 * $block }")"
        done
    done
    rm -r "$work/all"
done
