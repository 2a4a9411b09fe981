#!/usr/bin/env bash
# conv.sh: our convolutions against oneDNN's direct sums, shape by shape, in one
# process and alternately; the shortest of REPEAT times.  A line per pass of the
# convolutions of ResNet-18 and ResNet-20 (64 views of 32x32) that we have a
# kernel for; the lines that begin with # have the peak of f32, oneDNN's own
# Winograd (version 2 has one), and the share of the peak, ours or, of a pass
# without a kernel of ours, oneDNN's.
set -eu
bench=${BENCH:-build/release/tests/bench}

for case in 'f32 1' 'f32 2' 'bf16 1'; do
    read -r precision threads <<<"$case"
    "$bench/bench_conv" "$precision" "$threads" "${REPEAT:-20}" |
        awk -v p="$precision" -v t="$threads" '
        $1 == "peak" { print "# peak of a thread", $2, "GFLOP/s"; next }
        $3 == "-" {
            printf "# conv-%s-%s-%s-%dT oneDNN %s ms, %s %% of the peak\n",
                $1, $2, p, t, $4, $7
            next
        }
        {
            printf "bench conv-%s-%s-%s-%dT ours %s ms peer %s ratio %.2f\n",
                $1, $2, p, t, $3, $4, $4 / $3
            printf "# oneDNN Winograd %s, ours %s GFLOP/s, %s %% of the peak\n",
                $5, $6, $7
        }'
done
