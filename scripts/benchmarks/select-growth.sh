#!/usr/bin/env bash
# select-growth.sh: the cost of foil-select --score for an epoch of 10^4,
# 10^5 and 10^6 synthetic samples of 128 features, in blocks and over the whole
# data set: seconds of planning; processor seconds and peak memory of the whole
# program, which reads two .npy and scores its plan; the mean batch loss.
# THREADS=2 plans with two threads.
#
# A line for each on stdout; the table and a picture of it go to OUT (default
# build/select-growth): OUT.tsv, OUT.gp, OUT.png.  SIZES="10000 100000" keeps
# it short; 10^6 samples need 1 GB of temporary files next to OUT.
set -eu
bin=${BIN:-build/release/bin}
bench=${BENCH:-build/release/tests/bench}
out=${OUT:-build/select-growth}
threads=${THREADS:-1}
export GOMP_SPINCOUNT=0

for tool in /usr/bin/time jq; do
    if ! command -v "$tool" >/dev/null; then
        echo "bench select-growth skipped: no $tool"
        exit
    fi
done
mkdir -p "$(dirname "$out")"
work=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$work"' EXIT

# plan STRATEGY BLOCK : a line of its cost
plan() {
    /usr/bin/time -o "$work/time" -f '%U %S %M' "$bin/foil-select" --score \
        --strategy "$1,block=$2,tau=0.2" --threads "$threads" -b 32 \
        "$work/u.npy" "$work/v.npy" >"$work/score"
    read -r user system peak <"$work/time"
    jq -r --argjson busy "[$user, $system]" --argjson peak "$peak" \
        '[.seconds, ($busy | add), $peak * 1.024e-3, .dim * .samples * 8e-6,
          .mean] | map(. * 1e4 | round / 1e4) | @tsv' "$work/score"
}

printf 'strategy\tsamples\tseconds\tcpu_seconds\tpeak_MB\tfeatures_MB\tmean_batch_loss\n' \
    >"$out.tsv"
for n in ${SIZES:-10000 100000 1000000}; do
    "$bench/bench_growth" "$n" "$work/u.npy" "$work/v.npy"
    for how in 'shuffle 40' 'spectral 40' 'swap 40' 'swap 0'; do
        read -r strategy block <<<"$how"
        name=$strategy
        [[ $block != 0 ]] || name=$strategy-whole
        line=$(plan "$strategy" "$block")
        printf '%s\t%s\t%s\n' "$name" "$n" "$line" >>"$out.tsv"
        read -r seconds busy peak features loss <<<"$line"
        echo "bench select-growth $name N $n: $seconds s, of processors $busy" \
            "s, $peak MB (features $features MB), mean batch loss $loss"
    done
done

cat >"$out.gp" <<EOF
set terminal pngcairo size 1200,420 font 'sans,10'
set output '$out.png'
set datafile separator '\t'
set multiplot layout 1,3
set logscale xy
set key top left reverse Left
set xlabel 'samples'
set format x '10^{%L}'
names = 'spectral swap swap-whole shuffle'
of(name, value) = stringcolumn(1) eq name ? value : NaN
set ylabel 'processor seconds'
plot for [i=1:3] '$out.tsv' every ::1 using 2:(of(word(names, i), \$4)) \
    with linespoints linecolor i title word(names, i)
set ylabel 'peak memory, MB'
plot for [i=1:3] '$out.tsv' every ::1 using 2:(of(word(names, i), \$5)) \
    with linespoints linecolor i title word(names, i), \
    '$out.tsv' every ::1 using 2:(of('swap', \$6)) \
    with lines dashtype 2 linecolor 0 title 'the features alone'
unset logscale y
set yrange [0:*]
set ylabel 'mean batch loss'
set key bottom left
plot for [i=1:4] '$out.tsv' every ::1 using 2:(of(word(names, i), \$7)) \
    with linespoints linecolor i title word(names, i)
EOF
if command -v gnuplot >/dev/null; then
    gnuplot "$out.gp"
    echo "bench select-growth picture: $out.png"
else
    echo "bench select-growth picture skipped: no gnuplot"
fi
