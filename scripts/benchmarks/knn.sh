#!/usr/bin/env bash
# knn.sh: exact nearest neighbours, 10,000 x 50,000 x 128, against PyTorch's
# product and maximum (or top k) in blocks of 512, and FAISS's IndexFlatIP, at the
# same thread count, one thread by the time of its processor.  One is run after the
# other, REPEAT times; compares the shortest of each, with the faster peer, and names
# it.
set -eu
here=$(dirname "$0")
bench=${BENCH:-build/release/tests/bench}
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

wants knn torch faiss
for shape in '1 1' '1 2' '200 1'; do
    read -r k threads <<<"$shape"
    size=(10000 50000 128 "$k" "$threads") ours='' torch='' faiss=''
    for ((i = 0; i < ${REPEAT:-5}; i++)); do
        ours+=$("$bench/bench_knn" "${size[@]}")$'\n'
        torch+=$(OMP_NUM_THREADS=$threads "$python" "$here/knn_peer.py" torch \
            "${size[@]}")$'\n'
        faiss+=$(OMP_NUM_THREADS=$threads "$python" "$here/knn_peer.py" faiss \
            "${size[@]}")$'\n'
    done
    ours=$(shortest <<<"$ours") torch=$(shortest <<<"$torch")
    faiss=$(shortest <<<"$faiss")
    read -r peer who <<<"$(printf '%s PyTorch\n%s FAISS\n' "$torch" "$faiss" |
        sort -g | head -n 1)"
    printf 'bench knn-k%s-%sT ours %s s peer %s ratio %s %s\n' "$k" "$threads" \
        "$ours" "$peer" "$(ratio 2 "$peer" "$ours")" "$who"
    printf '# knn-k%s-%sT: PyTorch %s, FAISS %s s\n' "$k" "$threads" "$torch" \
        "$faiss"
done
