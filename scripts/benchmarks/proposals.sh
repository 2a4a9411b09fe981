#!/usr/bin/env bash
# proposals.sh: bias, noise and cost of each --proposals of foil-negatives at
# three sizes of a batch.  `once`, the default, must have a tenth of the bias of
# `row` in batches of 4 at most, and no more than half as many rows again from
# outside.
set -eu
bench=${BENCH:-build/release/tests/bench}

for size in '200 4 .2 15000' '500 32 .2 3000' '2000 256 .2 300'; do
    read -ra numbers <<<"$size"
    "$bench/bench_proposals" "${numbers[@]}" | sed 's/^/bench proposals ours /'
done | awk '{ print } $4 == "row" && $5 == 4 { bias = $7; rows = $9 }
    $4 == "once" && $5 == 4 { good = $7 < bias / 10 && $9 < 1.5 * rows }
    END { exit !good }'
