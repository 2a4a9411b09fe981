#!/usr/bin/env bash
# conv.sh: our convolutions against oneDNN's direct sums, shape by shape, in one
# process and alternately; the shortest of REPEAT times.  A line per pass of the
# convolutions of ResNet-18 and ResNet-20 (64 views of 32x32), and of small maps,
# for which the table takes a kernel of ours; the lines that begin with # have
# the peak of f32, all kernels (our Winograd and products by tap; oneDNN's direct
# sums and, of version 2, Winograd), and the share of the peak of the one taken.
set -eu
bench=${BENCH:-build/release/tests/bench}

for case in 'f32 1' 'f32 2' 'bf16 1'; do
    read -r precision threads <<<"$case"
    "$bench/bench_conv" "$precision" "$threads" "${REPEAT:-20}" |
        awk -v p="$precision" -v t="$threads" '
        $1 == "peak" { print "# peak of a thread", $2, "GFLOP/s"; next }
        {
            ours = $9 ~ /^winograd/ ? $3 : $9 ~ /^taps/ ? $4 : ""
            if (ours)
                printf "bench conv-%s-%s-%s-%dT ours %s ms peer %s ratio %.2f\n",
                    $1, $2, p, t, ours, $5, $5 / ours
            printf "# %s %s, Winograd %s, taps %s, oneDNN %s, %s ms, %s GFLOP/s, %s %% of the peak\n",
                $1, $2, $3, $4, $5, $6, $7, $8
        }'
done
