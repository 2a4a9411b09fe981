#!/usr/bin/env bash
# Runs each program of tests/bench briefly, so that none breaks unnoticed.
# Not for sanitizers: the functions that it measures have their own tests.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
here=$(cd "${0%/*}/.." && pwd)
bench=$(cd "$BIN/../tests/bench" && pwd)
cd "$work" || exit 1

"$BIN/foil-data" generate -o set.tar --size 64 24 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
"$BIN/foil-data" list set.tar | awk -F'\t' 'NR > 1 {
    print $7 "\tnumber " $1 % 7 " of a shape" }' >captions.tsv
"$BIN/foil-data" index -o captions.foil --captions captions.tsv set.tar 2>/dev/null

# runs NAME ARG... : the program exits with 0 within a sixth of the test's time limit
declare -A have
runs() {
    have[$1]=1
    ok "bench_$1 exits with 0" timeout "$((${LIMIT:-600} / 6))" "$bench/bench_$1" "${@:2}"
}

# measures NAME ARG... : the same, and it prints numbers
measures() {
    runs "$@"
    ok "bench_$1 prints numbers" grep -q '[0-9]' "$work/out"
}
measures augment set.tar 8 cifar
measures conv f32 1 1 64@8
measures gemm 1 1
measures knn 20 50 8 3 1
measures loss clip 8 16 1 2
measures pairs bow:8 clip f32 1 alone
measures proposals 24 4 .2 20
runs growth 48 u.npy v.npy
measures select plan u.npy v.npy 8 .5 48 1 spectral
measures step resnet20 features f32 1 1
measures text bow:8 train f32 8 1 2
measures tokens captions.foil 100
measures wire 20
"$BIN/foil-negatives" --negatives "ipc://$work/negatives" 2>negatives.log &
measures sampler "ipc://$work/negatives" 2

for source in "$here"/bench/bench_*.c; do
    name=${source##*/bench_} name=${name%.c}
    ok "this test runs bench_$name" test -n "${have[$name]-}"
done
done_testing
