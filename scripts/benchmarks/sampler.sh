#!/usr/bin/env bash
# sampler.sh: the time that the negatives service adds to a step: the round trip of
# 512 rows of 128 numbers and as many from outside the batch, through ipc,
# against the step of a ResNet-18 on 512 rows of 32x32 pixels, as eight times
# one of 64 rows on all cores.  It must be less than 1 %.
set -eu
bench=${BENCH:-build/release/tests/bench}
bin=${BIN:-build/release/bin}
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"
scratch

"$bin/foil-negatives" --negatives "ipc://$work/negatives" &
trip=$("$bench/bench_sampler" "ipc://$work/negatives" 20)
read -r step _ < <(GOMP_SPINCOUNT=0 "$bench/bench_step" resnet18 train f32 \
    "$(nproc)" 3)
awk -v trip="$trip" -v step="$step" 'BEGIN {
    share = 100 * trip / (8 * step)
    printf "bench sampler ours %.1f ms of a step of %.0f ms: %.2f %%, %s\n",
        trip, 8 * step, share, share < 1 ? "less than 1 %" : "MORE THAN 1 %"
    exit share >= 1
}'
