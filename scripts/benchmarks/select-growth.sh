#!/usr/bin/env bash
# select-growth.sh: time, memory and mean batch loss of planning an epoch of
# 10^4, 10^5 and 10^6 synthetic samples, in blocks and over the whole data set,
# with THREADS threads.
#
# A line for each on stdout; the table and a picture of it go to OUT (default
# build/select-growth): OUT.tsv, OUT.gp, OUT.png.  SIZES="10000 100000" keeps
# it short.
set -eu
bench=${BENCH:-build/release/tests/bench}
out=${OUT:-build/select-growth}
threads=${THREADS:-2}
export GOMP_SPINCOUNT=0

mkdir -p "$(dirname "$out")"
printf 'strategy\tsamples\tseconds\tcpu_seconds\tpeak_MB\tfeatures_MB\tmean_batch_loss\n' \
    >"$out.tsv"
for plan in 'shuffle 40' 'spectral 40' 'swap 40' 'swap 0'; do
    read -r strategy block <<<"$plan"
    name=$strategy
    [[ $block != 0 ]] || name=$strategy-whole
    for n in ${SIZES:-10000 100000 1000000}; do
        read -r seconds work peak features loss < <(
            "$bench/bench_growth" "$n" "$strategy" "$block" "$threads") ||
            continue
        printf '%s\t' "$name" "$n" "$seconds" "$work" "$peak" "$features" \
            >>"$out.tsv"
        echo "$loss" >>"$out.tsv"
        echo "bench select-growth $name N $n: $seconds s, of processors $work" \
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
set ylabel 'processor seconds to plan an epoch'
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
