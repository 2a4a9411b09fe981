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
printf 'strategy\tsamples\tseconds\tpeak_MB\tfeatures_MB\tmean_batch_loss\n' \
    >"$out.tsv"
for plan in 'shuffle 40' 'spectral 40' 'swap 40' 'swap 0'; do
    read -r strategy block <<<"$plan"
    name=$strategy
    [[ $block != 0 ]] || name=$strategy-whole
    for n in ${SIZES:-10000 100000 1000000}; do
        read -r seconds peak features loss < <(
            "$bench/bench_growth" "$n" "$strategy" "$block" "$threads")
        printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$n" "$seconds" "$peak" \
            "$features" "$loss" >>"$out.tsv"
        echo "bench select-growth $name N $n: $seconds s, $peak MB (features" \
            "$features MB), mean batch loss $loss"
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
names = 'spectral swap swap-whole'
set ylabel 'seconds to plan an epoch, $threads threads'
plot for [name in names] '$out.tsv' every ::1 \
    using 2:(stringcolumn(1) eq name ? \$3 : NaN) with linespoints title name
set ylabel 'peak memory, MB'
plot for [name in names] '$out.tsv' every ::1 \
    using 2:(stringcolumn(1) eq name ? \$4 : NaN) with linespoints title name, \
    '$out.tsv' every ::1 using 2:(stringcolumn(1) eq 'swap' ? \$5 : NaN) \
    with lines dashtype 2 title 'the features alone'
unset logscale y
set yrange [0:*]
set ylabel 'mean batch loss'
set key bottom left
plot for [name in 'shuffle '.names] '$out.tsv' every ::1 \
    using 2:(stringcolumn(1) eq name ? \$6 : NaN) with linespoints title name
EOF
if command -v gnuplot >/dev/null; then
    gnuplot "$out.gp"
    echo "bench select-growth picture: $out.png"
else
    echo "bench select-growth picture skipped: no gnuplot"
fi
