#!/bin/bash
# usage: equal-time.sh TOP METHODS SEED SEEDS EPOCHS BATCHES
#
# Writes TOP/time/steps.tsv: for each method whose epochs took another time than random
# batches, the steps that take as long as these; by the fastest run of each method, since
# the machine may be shared.
set -eu
while read -r name ratio; do
    echo "$name $(awk -v ratio="$ratio" -v n=$(($5 * $6)) \
        'BEGIN { print (int(n / ratio)) }')"
    [[ $ratio == 1 ]] || continue
    for ((i = $3; i < $3 + $4; i++)); do
        ln -sfn "../epochs/$name-$i" "$1/time/$name-$i"
    done
done < <(awk -F '\t' '$3 == "seconds" && (!($1 in least) || $4 < least[$1]) {
        least[$1] = $4
    }
    END {
        for (name in least) {
            base = name
            sub(/-.*/, "-shuffle", base)
            x = base in least ? least[name] / least[base] : 1
            if (x > 0.95 && x < 1.05)
                x = 1
            print name, x
        }
    }' "$1/epochs/results.tsv") >"$1/time/steps.tsv"
