#!/bin/bash
# usage: draw-curves.sh STUDY METHODS SEED SEEDS LAST CLAIM NAME TITLE
#            [COLUMN LABEL linear|log]...
#
# Writes curves.tsv, for each method a block with its name and the mean over the seeds
# of the runs' curve.tsv, line by line; and METHOD:mean, of their mean.tsv, if a study
# measures the mean of weights, too.  Draws NAME.png, a panel for each of these columns
# against the first one, up to LAST if set, with a paper's CLAIM,
# 'COLUMN,...:METHOD X LABEL': 1/X of that method's curve.
set -eu -o pipefail
study=$1 methods=$2 seed=$3 seeds=$4 last_step=$5 claimed=$6 picture=$7 title=$8
shift 8

# seeds_of METHOD FILE NAME : the lines of its runs' FILE, each with the prefix NAME
seeds_of() {
    local i at
    for ((i = seed; i < seed + seeds; i++)); do
        at=$study/$1-$i/$2
        [[ ! -e $at ]] || sed "/^#/d; s/^/$3\t/" "$at"
    done
}

mean_curves() {
    local name
    for name in ${methods//,/ }; do
        seeds_of "$name" curve.tsv "$name"
        seeds_of "$name" mean.tsv "$name:mean"
    done | awk '
        function flush(    i, k) {
            if (!rows)
                return
            printf "%s\"%s\"\n", blocks++ ? "\n\n" : "", name
            for (i = 1; i <= rows; i++) {
                for (k = 2; k <= NF; k++)
                    printf "%.9g%s", sum[i, k] / n[i], k < NF ? "\t" : "\n"
            }
        }
        $1 != name {
            flush()
            split("", sum)
            split("", row)
            split("", n)
            rows = 0
            name = $1
        }
        {
            if (!($2 in row))
                row[$2] = ++rows
            n[row[$2]]++
            for (k = 2; k <= NF; k++)
                sum[row[$2], k] += $k
        }
        END { flush() }' >"$study/curves.tsv"
}

# claim COLUMN : the claim, if it is about that column
claim() {
    local method x label at
    [[ ,${claimed%%:*}, == *",$1,"* ]] || return 0
    read -r method x label <<<"${claimed#*:}"
    at=$(grep '^"' "$study/curves.tsv" | grep -nx "\"$method\"") || return 0
    echo ", 'curves.tsv' index $((${at%%:*} - 1)) using 1:(\$$1 / $x)" \
        "with lines linecolor black dashtype 3 title \"$label\""
}

mean_curves
count=$(grep -c '^"' "$study/curves.tsv")
{
    cat <<END
# gnuplot $picture.gp draws $picture.png from curves.tsv.
set terminal pngcairo size $((640 * $# / 3)),520
set output "$picture.png"
set multiplot layout 1,$(($# / 3)) title "$title"
set xlabel "step" offset 0,0.7
set format x "%.0s%c"
set xrange [*:${last_step:-*}]
set grid
set key autotitle columnhead outside bottom center horizontal
END
    while [[ $# -gt 0 ]]; do
        echo "set ylabel \"$2\""
        if [[ $3 == log ]]; then
            printf 'set logscale y\nset format y "10^{%%L}"\n'
        else
            printf 'unset logscale y\nset format y "%%g"\n'
        fi
        echo "plot for [i=0:$((count - 1))] 'curves.tsv' index i" \
            "using 1:$1 with lines linewidth 1.5 dashtype i/8+1$(claim "$1")"
        shift 3
    done
} >"$study/$picture.gp"
exec "${0%/*}/draw.sh" "$study" "$picture"
