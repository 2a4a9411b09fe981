#!/bin/bash
# usage: selection-price.sh RUN BATCHES DATA THREADS
#
# Cost and gain of a strategy's hard batches: in the last BATCHES steps the share of
# the weight of negatives on the own class, and the share of that class among all
# negatives; and the share of the pairs hardest at the end that were shown.
set -eu -o pipefail
run=$1

# last KEY NAME : the mean in the last epoch; KEY is a metric, "|" and its name of before
last() {
    tail -n "$batches" "$run/metrics.jsonl" | sed -nE "s/.*\"($1)\":([^,}]*).*/\2/p" |
        awk -v name="$2" '{ sum += $1 } END { if (NR) print name "\t" sum / NR }'
}
batches=$2
last 'same_class_weight|own_class' 'same class weight'
last 'same_class_share|own_shown' 'same class share'
foil-eval plan --no-record --threads "$4" -r "$run" "$run/latest" "$3" |
    sed -n 's/.*"hardest_coverage":\([^,}]*\).*/hardest pairs\t\1/p' | tail -n 1
