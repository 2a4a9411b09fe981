#!/bin/bash
# usage: times.sh STUDY MEASURE : the factor below simclr, seed by seed
awk -F '\t' -v measure="$2" '
    $3 == measure {
        if (!($1 in seen))
            method[++methods] = $1
        if (!($2 in is_seed))
            seed[++seeds] = $2
        seen[$1] = is_seed[$2] = 1
        x[$1, $2] = $4
    }
    END {
        if (!("simclr" in seen))
            exit
        printf "%-31s", "simclr / " measure
        for (j = 1; j <= seeds; j++)
            printf " %6s%d", "seed ", seed[j]
        printf "\n"
        for (i = 1; i <= methods; i++) {
            printf "%-31s", method[i]
            for (j = 1; j <= seeds; j++) {
                y = x[method[i], seed[j]]
                base = x["simclr", seed[j]]
                printf " %7s", y && base ? sprintf("%.3g", base / y) : "-"
            }
            printf "\n"
        }
        printf "\n"
    }' "$1/results.tsv" | tee -a "$1/table.txt"
