#!/bin/bash
# usage: temperature.sh RUN BATCHES
#
# The unweighted mean of the divergence in the last epoch, of so many batches;
# and the first values of RUN/temperature.json.
set -eu -o pipefail

# first KEY
first() {
    grep -o "\"$1\":[^,}]*" "$run/temperature.json" | head -n 1 | cut -d : -f 2
}
run=$1
tail -n "$2" "$run/metrics.jsonl" | sed -n 's/.*"kl":"\{0,1\}\([^],}"]*\).*/\1/p' |
    awk '{ sum += $1 } END { print "kl\t" sum / NR }'
printf 'spearman\t%s\nmean temperature\t%s\n' "$(first spearman)" "$(first mean)"
