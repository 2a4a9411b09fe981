#!/bin/sh
# usage: draw-cells.sh STUDY MEASURE BASE
#
# Writes cells.tsv from table.txt: the mean of MEASURE of each method, and the 95 %
# interval of its difference to BASE; draws cells.png.
set -eu
awk -v measure="$2" '
    $1 == measure && $2 == "mean" { on = 1; next }
    NF == 0 || /^(\+-|no verdict|p|beware):? / { on = 0 }
    on { print $1 "\t" $2 "\t" (NF > 4 ? $5 : 0) }' "$1/table.txt" >"$1/cells.tsv"
cat >"$1/cells.gp" <<END
# gnuplot cells.gp draws cells.png from cells.tsv: method, mean, interval.
set terminal pngcairo noenhanced size $((400 + 40 * $(wc -l <"$1/cells.tsv"))),520
set output "cells.png"
set title "$2, mean of all seeds; bars: the 95 % interval\\nof the difference to $3"
set xtics rotate by -40
set xrange [-0.5:*]
set autoscale xfixmax
set offsets 0, 0.5, 1e-3, 1e-3
set grid
plot "cells.tsv" using 0:2:3:xtic(1) with yerrorbars pointtype 7 notitle
END
exec "${0%/*}/draw.sh" "$1" cells
