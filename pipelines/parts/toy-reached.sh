#!/bin/bash
# usage: toy-reached.sh STUDY
#
# The number of updates until the mean angle over images and seeds is reached;
# printed, and added to the table.
set -eu -o pipefail
{
    printf '%-24s %9s\n' 'the toy' updates
    awk -v goal="$(awk 'BEGIN { print atan2(1, 1) - 0.05 }')" '
        function flush() {
            if (name)
                printf "%-24s %9s\n", name, there ? there : "-"
            there = 0
        }
        /^"/ { flush(); name = substr($1, 2, length($1) - 2) }
        NF > 2 {
            sum = 0
            for (i = 3; i <= NF; i++)
                sum += $i
            if (!there && sum / (NF - 2) > goal)
                there = $1
        }
        END { flush() }' "$1/curves.tsv"
} | tee -a "$1/table.txt"
