#!/usr/bin/env bash
# knn.sh: exact nearest neighbours, 10,000 x 50,000 x 128, against PyTorch's
# product and maximum (or top k) in blocks of 512, at the same thread count.
# One is run after the other, REPEAT times; the medians are compared.
set -eu
here=$(dirname "$0")
bench=${BENCH:-build/release/tests/bench}
python=/usr/bin/python3

median() {
    sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

if ! "$python" -c 'import torch' 2>/dev/null; then
    echo 'bench knn skipped: no python3-torch'
    exit
fi
for shape in '1 1' '1 2' '200 1'; do
    read -r k threads <<<"$shape"
    ours='' peer=''
    for ((i = 0; i < ${REPEAT:-5}; i++)); do
        ours+=$("$bench/bench_knn" 10000 50000 128 "$k" "$threads")$'\n'
        peer+=$("$python" "$here/knn_peer.py" 10000 50000 128 "$k" \
            "$threads")$'\n'
    done
    ours=$(printf %s "$ours" | median) peer=$(printf %s "$peer" | median)
    printf 'bench knn-k%s-%sT ours %s s peer %s ratio %s\n' "$k" "$threads" \
        "$ours" "$peer" "$(awk "BEGIN { printf \"%.2f\", $peer / $ours }")"
done
