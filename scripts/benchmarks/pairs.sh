#!/usr/bin/env bash
# pairs.sh: a training step on 128 images and their captions against PyTorch,
# and the extra time of emc2_bimodal, with chains and a bank, over clip.
# One is run after the other, REPEAT times; the least processor time of a step of
# all runs counts, of one thread, so that other work on the machine affects both
# equally.
# ONLY='bow' picks cases.
set -eu
here=$(dirname "$0")
bench=${BENCH:-build/release/tests/bench}/bench_pairs
repeat=${REPEAT:-3}
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

# least COLUMN LINES : of the lines
least() {
    cut -d' ' -f"$1" <<<"$2" | sort -n | head -n 1
}

# compare NAME UNIT COLUMN OURS PEER : the least of a column of each
compare() {
    local ours peer
    ours=$(least "$3" "$4") peer=$(least "$3" "$5")
    printf 'bench %s ours %s %s peer %s ratio %s\n' "$1" "$ours" "$2" "$peer" \
        "$(ratio 2 "$peer" "$ours")"
}

wants pairs torchvision
for text in bow:128 clip:128x2 clip:128x2x4; do
    [[ ! ${ONLY:-} || $text =~ $ONLY ]] || continue
    ours='' peer='' clip='' chains=''
    for ((i = 0; i < repeat; i++)); do
        ours+=$("$bench" "$text" clip f32 40)$'\n'
        peer+=$("$python" "$here/pairs_peer.py" "$text" 20)$'\n'
        clip+=$("$bench" "$text" clip f32 1000 alone)$'\n'
        chains+=$("$bench" "$text" emc2_bimodal f32 1000 alone)$'\n'
    done
    compare "pairs-$text" ms 1 "${ours%$'\n'}" "${peer%$'\n'}"
    compare "pairs-$text-memory" MB 2 "${ours%$'\n'}" "${peer%$'\n'}"
    clip=$(least 1 "${clip%$'\n'}") chains=$(least 1 "${chains%$'\n'}")
    more=$(awk "BEGIN { printf \"%.2f\", $chains - $clip }")
    compare "pairs-$text-chains" ms 1 "$more" "${ours%$'\n'}"
done
