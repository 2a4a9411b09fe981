#!/bin/bash
# usage: draw-grams.sh STUDY METHODS SEED N D
#
# Draws grams.png, the cosines of the last embeddings of the first seed, as heat maps.
set -eu
study=$1 methods=$2 seed=$3 n=$4 d=$5
count=0 plots=''
for name in ${methods//,/ }; do
    [[ -e $study/$name-$seed/gram.txt ]] || continue
    count=$((count + 1))
    plots+="set title \"$name\""$'\n'
    plots+="plot \"$name-$seed/gram.txt\" matrix with image notitle"$'\n'
done
cat >"$study/grams.gp" <<END
# gnuplot grams.gp draws grams.png: cosines of first views (down) with second.
set terminal pngcairo size $((210 * (count + 1) / 2)),480
set output "grams.png"
set multiplot layout 2,$(((count + 1) / 2)) title "$n images, $d dimensions"
set palette defined (-1 "blue", 0 "white", 1 "red")
set cbrange [-1:1]
set yrange [*:*] reverse
unset xtics
unset ytics
unset colorbox
set size ratio 1
$plots
END
exec "${0%/*}/draw.sh" "$study" grams
