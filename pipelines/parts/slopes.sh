#!/bin/bash
# usage: slopes.sh TOP LENGTHS MEASURE
#
# Between two neighbouring lengths of runs, the slope of a method's log10 of the
# measure over that of the length: mean of the seeds, and its deviation.
set -eu -o pipefail
for length in ${2//,/ }; do
    awk -F '\t' -v length_is="$length" -v OFS='\t' \
        -v measure="log10 of $3" '$3 == measure { print $1, $2, length_is, $4 }' "$1/$length/results.tsv"
done | awk -F '\t' -v measure="$3" '
    {
        if (!(($1) in is_method))
            method[++methods] = $1
        if (!($3 in is_length))
            steps[++lengths] = $3
        is_method[$1] = is_length[$3] = is_seed[$2] = 1
        x[$1, $2, $3] = $4
    }
    END {
        printf "%-24s", "slope of " measure
        for (i = 2; i <= lengths; i++)
            printf " %16s", steps[i - 1] ".." steps[i]
        printf "\n"
        for (k = 1; k <= methods; k++) {
            printf "%-24s", method[k]
            for (i = 2; i <= lengths; i++) {
                n = sum = squares = 0
                for (s in is_seed)
                    if ((method[k], s, steps[i]) in x) {
                        slope = (x[method[k], s, steps[i]] - \
                            x[method[k], s, steps[i - 1]]) / \
                            log(steps[i] / steps[i - 1]) * log(10)
                        n++
                        sum += slope
                        squares += slope * slope
                    }
                spread = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0
                printf " %8.2f (%5.2f)", sum / n, sqrt(spread > 0 ? spread : 0)
            }
            printf "\n"
        }
        printf "\n"
    }' | tee -a "$1/table.txt"
