#!/usr/bin/env bash
# tokens.sh: captions to tokens, in processor seconds, by the titles and sentences of
# fashion-it in ../shared/data, 10^6 of them; and a vocabulary of its titles.
# Debian has no peer: the goals are 5 s and 50 ms.  With valgrind, also
# instructions a caption, which do not depend on the load of the machine.
set -eu
bench=${BENCH:-build/release/tests/bench}/bench_tokens
bin=${BIN:-build/release/bin}
shared=${FOIL_SHARED:-$(cd "${0%/*}/../.." && pwd)/../shared}

if [[ ! -e $shared/data/fashion-it-train-000000.tar ]]; then
    echo 'bench tokens skipped: no fashion-it in ../shared/data'
    exit
fi
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"
scratch
"$bin/foil-data" index -o "$work/f.foil" \
    "$shared"/data/fashion-it-train-*.tar 2>/dev/null

read -r train encode _ <<<"$("$bench" "$work/f.foil" 1000000)"
awk -v train="$train" -v encode="$encode" 'BEGIN {
    printf "bench tokens ours %s s wanted 5 ratio %.2f\n", encode, 5 / encode
    printf "bench tokens-train ours %s s wanted .05 ratio %.2f\n", train,
        .05 / train
}'

# instructions COUNT : those of a run with so many captions
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$bench" "$work/f.foil" "$1" 2>&1 >/dev/null |
        sed -n 's/.*Collected : //p'
}
if command -v valgrind >/dev/null; then
    few=$(instructions 20000) many=$(instructions 40000)
    echo "bench tokens-instructions ours $(((many - few) / 20000)) a caption"
else
    echo 'bench tokens-instructions skipped: no valgrind'
fi
