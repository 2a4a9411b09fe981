#!/bin/bash
# usage: tails.sh STUDY SEED SEEDS
#
# Between both tails, over classes: the rank correlation of the logarithm of the ratio
# of sizes with the difference of mean temperatures, and the slope of the latter a decade.
set -eu -o pipefail
study=$1

# classes FILE TEMPERATURE : its classes with size and temperature, a line each
classes() {
    grep -o '{"class":[^}]*}' "$1" |
        sed -nE "s/.*\"class\":\"([^\"]*)\",\"size\":([0-9]*).*\"$2\":([^,}]*).*/\1\t\2\t\3/p"
}

# paired FILE TEMPERATURE SEED : correlation and slope
paired() {
    join -t $'\t' <(classes "$study/falling-$3/$1" "$2" | sort -t $'\t' -k 1,1) \
        <(classes "$study/rising-$3/$1" "$2" | sort -t $'\t' -k 1,1) | awk -F '\t' '
        function rank(v, i,    j, below) {
            below = 1
            for (j = 1; j <= n; j++)
                below += v[j] < v[i] ? 1 : v[j] == v[i] && j != i ? .5 : 0
            return below
        }
        {
            x[++n] = log($2 / $4) / log(10)
            y[n] = $3 - $5
        }
        END {
            for (i = 1; i <= n; i++) {
                a = rank(x, i) - (n + 1) / 2
                b = rank(y, i) - (n + 1) / 2
                ab += a * b
                aa += a * a
                bb += b * b
                xy += x[i] * y[i]
                xx += x[i] * x[i]
            }
            printf "%8.2f %8.4f", (aa * bb > 0 ? ab / sqrt(aa * bb) : 0),
                (xx > 0 ? xy / xx : 0)
        }'
}
printf '%-31s %8s %8s %8s %8s\n' 'between the tails, by class' learnt 'a decade' \
    exact 'a decade' | tee -a "$study/table.txt"
for ((i = $2; i < $2 + $3; i++)); do
    printf '%-31s %s %s\n' "seed $i" "$(paired temperature.json mean "$i")" \
        "$(paired anchors.json exact "$i")" | tee -a "$study/table.txt"
done
