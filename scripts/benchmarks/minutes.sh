#!/usr/bin/env bash
# minutes.sh: what minutes of training buy: `foil run RECIPE` [fast] on CIFAR-10 with each
# number of EPOCHS [1 2 4 7 10], and the same run in PyTorch (accuracy.sh has both).
# Each number is a run of its own, whose learning rate falls to 0 at its end.
#
# Prints a table: minutes and processor minutes of training, and the share of the test
# images that the nearest neighbour and a linear probe classify correctly; the last lines
# compare processor minutes.  PICTURE=FILE.svg draws the table with gnuplot.  WORK is a folder for the runs: a complete one there is not repeated, so both
# sides may be made separately, ONLY=foil or ONLY=torch; IMAGES, THREADS and SEED are those
# of accuracy.sh.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
recipe=${RECIPE:-fast}
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

wants minutes torchvision numpy
wants_data minutes
if [[ -n ${WORK-} ]]; then
    work=$WORK
    mkdir -p "$work"
else
    scratch
fi

# curve SIDE : lines `EPOCHS MINUTES PROCESSOR NEAREST PROBE`; each run is judged at its end
# alone, since nothing stays above 1
curve() {
    local n
    for n in ${EPOCHS:-1 2 4 7 10}; do
        RECIPE=$recipe EPOCHS=$n ONLY=$1 WORK=$work/$n NEAR=1 PROBE=1 "$here/accuracy.sh" \
            >/dev/null
        tail -n 1 "$work/$n/$1.times" | join - "$work/$n/$1.right" |
            awk '{ printf "%d %.2f %.2f %.3f %.3f\n", $1, $2 / 60, $3 / 60, $4, $5 }'
    done >"$work/$1.curve"
}

# draw FILE : both curves, 1-NN and probe against processor minutes
draw() {
    local side plots=()
    for side in foil torch; do
        [[ ! -s $work/$side.curve ]] ||
            plots+=("'$work/$side.curve' using 3:4 with linespoints title '$side, 1-NN'"
                "'$work/$side.curve' using 3:5 with linespoints title '$side, probe'")
    done
    gnuplot <<END
set terminal svg size 640,400 font "sans-serif,12" background "white"
set output "$1"
set logscale x
set xlabel "processor minutes of training"
set ylabel "share of test images that are right"
set grid
set key bottom right
plot $(IFS=,; echo "${plots[*]}")
END
}

for side in foil torch; do
    [[ ${ONLY:-$side} == "$side" ]] || continue
    curve "$side"
    awk -v side="$side" '{ printf "# minutes %s: %d epochs, %s min, %s processor min, \
1-NN %s, probe %s\n", side, $1, $2, $3, $4, $5 }' "$work/$side.curve"
done
if [[ -n ${PICTURE-} ]] && command -v gnuplot >/dev/null; then
    draw "$PICTURE"
fi
[[ -z ${ONLY-} ]] || exit 0
join "$work/foil.curve" "$work/torch.curve" | while read -r n _ ours near probe _ peer at by; do
    echo "bench minutes-$n ours $ours min peer $peer ratio $(ratio 2 "$peer" "$ours") \
(1-NN $near, $at; probe $probe, $by)"
done
