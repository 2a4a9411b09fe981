# shellcheck shell=bash
# Functions of all benchmarks, which source it.
python=/usr/bin/python3
benchmarks=$(cd "${BASH_SOURCE[0]%/*}" && pwd)

# BIND=avx2 limits both sides to AVX2: foil, oneDNN, PyTorch's own loops, OpenBLAS,
# NumPy, OpenCV
if [[ ${BIND-} == avx2 ]]; then
    export FOIL_ISA=x86-64-v3 ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2 \
        OPENBLAS_CORETYPE=Haswell OPENCV_CPU_DISABLE=AVX512F,AVX512-SKX \
        NPY_DISABLE_CPU_FEATURES='AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL'
elif [[ ${BIND-} ]]; then
    echo "bench: BIND can be avx2, not '$BIND'" >&2
    exit 2
fi

# scratch : makes $work, a folder that is removed at the end, after jobs are killed
scratch() {
    work=$(mktemp -d)
    trap 'jobs -p | xargs -r kill 2>/dev/null || true; wait; rm -rf "$work"' EXIT
}

# median COLUMN : of the lines on stdin
median() {
    awk -v at="$1" '{ print $at }' | sort -g |
        awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

# shortest : of the numbers on stdin
shortest() {
    awk 'NF { print $1 }' | sort -g | head -n 1
}

# ratio DIGITS A B : A / B
ratio() {
    awk "BEGIN { printf \"%.$1f\", $2 / $3 }"
}

# wants NAME MODULE... : skips the benchmark if Python lacks one of them
wants() {
    local name=$1 module
    for module in "${@:2}"; do
        if ! "$python" -c "import $module" 2>/dev/null; then
            echo "bench $name skipped: no python3-$module"
            exit
        fi
    done
}

# wants_data NAME : the same without $data, the shared folder
wants_data() {
    data=${FOIL_SHARED:-$benchmarks/../../../shared}/data
    if [[ ! -d $data ]]; then
        echo "bench $1 skipped: no $data"
        exit
    fi
}
