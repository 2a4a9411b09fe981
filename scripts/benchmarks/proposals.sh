#!/usr/bin/env bash
# proposals.sh: bias, noise and cost of each --proposals of foil-negatives at
# three sizes of a batch.  In batches of 4, `once`, the default, must have less
# than a tenth of the bias of `row`, and less than 1.5 times its rows from
# outside.
set -eu
bench=${BENCH:-build/release/tests/bench}

for size in '200 4 .2 15000' '500 32 .2 3000' '2000 256 .2 300'; do
    read -ra numbers <<<"$size"
    "$bench/bench_proposals" "${numbers[@]}" | sed 's/^/bench proposals ours /'
done | awk '{ print } $4 == "row" && $5 == 4 { bias = $7; rows = $9 }
    $4 == "once" && $5 == 4 { good = $7 < bias / 10 && $9 < 1.5 * rows }
    END { exit !good }'
