#!/usr/bin/env bash
# conv.sh: our convolutions against oneDNN's direct sums, shape by shape, in one
# process and alternately, and against PyTorch in another; the shortest of REPEAT
# times.  A line per pass and peer of the convolutions of ResNet-18 and ResNet-20
# (64 views of 32x32), and of small maps, for which the table selects a kernel of
# foil; the lines that begin with # have the peak of f32, all kernels (our
# Winograd, products by tap and by AMX; oneDNN's direct sums and, of version 2,
# Winograd), PyTorch, and the share of the peak of the one taken.
# ONLY='f32 1' picks cases.
set -eu
here=${0%/*}
bench=${BENCH:-build/release/tests/bench}
# shellcheck source=scripts/benchmarks/common.bash
. "$here/common.bash"

# peers PRECISION THREADS NAME... : a line per shape and pass, where PyTorch is
peers() {
    local precision=$1 threads=$2
    shift 2
    if "$python" -c 'import torch' 2>/dev/null; then
        "$python" "$here/conv_peer.py" "$precision" "$threads" \
            "${REPEAT:-20}" <<<"$*"
    else
        echo 'bench conv-torch skipped: no python3-torch' >&2
    fi
}

for case in 'f32 1' 'f32 2' 'bf16 1'; do
    read -r precision threads <<<"$case"
    [[ ! ${ONLY:-} || $case =~ $ONLY ]] || continue
    ours=$("$bench/bench_conv" "$precision" "$threads" "${REPEAT:-20}")
    # shellcheck disable=SC2046
    torch=$(peers "$precision" "$threads" \
        $(awk '$2 == "forward" { print $1 }' <<<"$ours"))
    awk -v p="$precision" -v t="$threads" '
        NR == FNR { torch[$1, $2] = $3; next }
        $1 == "peak" { print "# peak of a thread", $2, "GFLOP/s"; next }
        {
            ours = $10 ~ /^winograd/ ? $3 : $10 ~ /^taps/ ? $4 : \
                $10 ~ /^tiles/ ? $5 : ""
            peer = ($1, $2) in torch ? torch[$1, $2] : "-"
            if (ours) {
                name = "bench conv-" $1 "-" $2 "-" p "-" t "T"
                printf "%s ours %s ms peer %s ratio %.2f\n", name, ours, $6,
                    $6 / ours
                if (peer != "-")
                    printf "%s-torch ours %s ms peer %s ratio %.2f\n",
                        name, ours, peer, peer / ours
            }
            printf "# %s %s, Winograd %s, taps %s, AMX %s, oneDNN %s, %s, " \
                "PyTorch %s ms, %s GFLOP/s, %s %% of the peak\n",
                $1, $2, $3, $4, $5, $6, $7, peer, $8, $9
        }' <(printf '%s\n' "$torch") <(printf '%s\n' "$ours")
done
