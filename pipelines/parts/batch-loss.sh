#!/bin/bash
# usage: batch-loss.sh STUDY NAME : a row of the study's table
set -eu -o pipefail
file=$1/$2
random=$(sed 's/.*"random":{"mean":\([^,]*\),.*/\1/' "$file.json")
seconds=$(sed 's/"random":{[^}]*}//; s/.*"seconds":\([^],}"]*\).*/\1/' "$file.json")
cosine=$(sed -n 's/.*"cosine":\([^,]*\),.*/\1/p' "$file.gradient.json")
# the share of pairs in a batch that are of one class
kin=$(awk 'NR == FNR { class[NR - 1] = $1; next }
    {
        for (i = 1; i <= NF; i++)
            for (j = 1; j < i; j++) {
                pairs++
                same += class[$i] == class[$j]
            }
    }
    END { printf "%.3f\n", same / pairs }' "$1/labels.txt" "$file.plan")
sort -g "$file.losses" | awk -v name="$2" -v random="$random" -v kin="$kin" \
    -v seconds="$seconds" -v cosine="$cosine" '
    NR == 1 { least = $1 }
    { sum += $1 }
    END {
        printf "%-12s %8.3f %8.3f %8.3f %8.2f %8.3f %8s %8.2f\n", name, sum / NR,
            least, $1, sum / NR / random, cosine, kin, seconds
    }'
