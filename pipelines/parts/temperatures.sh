#!/bin/bash
# usage: temperatures.sh STUDY METHODS SEED TITLE
#
# Temperatures of iSogCLR with the first seed: a line for each run, and for each
# class; printed, and added to table.txt.
set -eu
study=$1 methods=$2 seed=$3

# first KEY : its first value in the line of JSON on standard input
first() {
    grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d : -f 2
}

# temperatures : a line for each run of iSogCLR with the first seed
temperatures() {
    local name key file values
    printf '%-18s %6s %6s %6s %6s %6s %9s %21s\n' temperatures mean spread \
        least most kl spearman 'rare: all small large'
    for name in ${methods//,/ }; do
        file=$study/$name-$seed/temperature.json
        [[ -e $file ]] || continue
        values=()
        for key in mean deviation 0 1; do
            values+=("$(first "$key" <"$file")")
        done
        values+=("$(sed -n 's/^kl\t//p' "$study/$name-$seed/result.tsv")")
        for key in spearman share among_small among_large; do
            values+=("$(first "$key" <"$file")")
        done
        printf '%-18s %6.3f %6.3f %6.3f %6.3f %6.3f %9.3f %9.3f %5.3f %5.3f\n' \
            "$name" "${values[@]}"
    done
    cat <<'END'
kl: mean of the last epoch, to be rho.  spearman: rank correlation of the size
of an image's class with its temperature.  rare: share of the images in classes
smaller than the median one, among all and among the 600 with the smallest and
with the largest temperatures.

END
}

# by_class : the mean temperature of each class
by_class() {
    local name file
    printf '%-12s %6s' class size
    for name in ${methods//,/ }; do
        [[ ! -e $study/$name-$seed/temperature.json ]] ||
            printf ' %16s' "$name"
    done
    printf '\n'
    for name in ${methods//,/ }; do
        file=$study/$name-$seed/temperature.json
        [[ ! -e $file ]] || sed 's/{"class":/\n/g' "$file" | sed 1d | sed -n \
            's/"\([^"]*\)","size":\([0-9]*\),"mean":\([0-9.]*\).*/\1\t\2\t\3/p'
    done | awk -F '\t' '
        !($1 in line) {
            order[++classes] = $1
            line[$1] = sprintf("%-12s %6d", $1, $2)
        }
        { line[$1] = line[$1] sprintf(" %16.4f", $3) }
        END {
            for (i = 1; i <= classes; i++)
                print line[order[i]]
        }'
    printf '\n'
}

{
    echo "$4"
    echo
    temperatures
    by_class
} | tee -a "$study/table.txt"
