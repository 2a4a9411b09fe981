#!/bin/sh
# usage: geometry-optima.sh N simplex|cross : the minima of the losses, by the theory
awk -v n="$1" -v kind="$2" 'BEGIN {
    if (kind == "simplex") {
        full = 2 * log(1 + (n - 1) * exp(-n / (n - 1)))
        pairs = 2 * log(1 + exp(-n / (n - 1)))
    } else {
        full = 2 * log(1 + (n - 2) * exp(-1) + exp(-2))
        pairs = ((n - 2) * 2 * log(1 + exp(-1)) + 2 * log(1 + exp(-2))) \
            / (n - 1)
    }
    printf "full loss %.9f, pairs %.9f\n", full, pairs
}'
