#!/usr/bin/env bash
# knn.sh: exact nearest neighbours, 10,000 x 50,000 x 128, against PyTorch's
# product and maximum (or top k) in blocks of 512, at the same thread count.
# One is run after the other, REPEAT times; the medians are compared.
set -eu
here=$(dirname "$0")
bench=${BENCH:-build/release/tests/bench}
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

wants knn torch
for shape in '1 1' '1 2' '200 1'; do
    read -r k threads <<<"$shape"
    ours='' peer=''
    for ((i = 0; i < ${REPEAT:-5}; i++)); do
        ours+=$("$bench/bench_knn" 10000 50000 128 "$k" "$threads")$'\n'
        peer+=$("$python" "$here/knn_peer.py" 10000 50000 128 "$k" \
            "$threads")$'\n'
    done
    ours=$(printf %s "$ours" | median 1) peer=$(printf %s "$peer" | median 1)
    printf 'bench knn-k%s-%sT ours %s s peer %s ratio %s\n' "$k" "$threads" \
        "$ours" "$peer" "$(ratio 2 "$peer" "$ours")"
done
