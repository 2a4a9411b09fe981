#!/usr/bin/env bash
# gemm.sh: the matrix products of heads, similarities, neighbours, selection and
# transformers by num_gemm (of oneDNN or our own), and those inside of Winograd
# convolutions by their own loop, against OpenBLAS, in one process and
# alternately; the most GFLOP/s of REPEAT runs.  Each thread count, with the
# kernels that OpenBLAS chooses for this processor, and with those that
# OPENBLAS_CORETYPE asks for, if it is set.
set -eu
bench=${BENCH:-build/release/tests/bench}

# compare THREADS : a line per product
compare() {
    "$bench/bench_gemm" "$1" "${REPEAT:-10}" | awk -v t="$1" '
        $1 == "kernels" { kernels = $2; next }
        {
            printf "bench gemm-%s-%s-%s-%dT ours %s GFLOP/s peer %s " \
                "ratio %.2f\n", $1, $2, $3, t, $4, $5, $4 / $5
        }
        END { print "# OpenBLAS chose its kernels for", kernels }'
}

for threads in 1 2; do
    if [[ ${OPENBLAS_CORETYPE:-} ]]; then
        compare "$threads"
    fi
    (
        unset OPENBLAS_CORETYPE
        compare "$threads"
    )
done
