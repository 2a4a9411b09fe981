#!/usr/bin/env bash
# ranks.sh: a step by 1, 2, 4 .. ranks on this machine, each with the same number of
# threads: the median of its seconds without the wait for a batch, the speed relative
# to one rank, and the share of it in which rank 0 exchanged data.  RANKS,
# THREADS of each, ARCH with further options of foil-train, BATCH, SIZE of views,
# STEPS; SHARDS, by default the number of ranks.
set -eu
bin=${BIN:-build/release/bin}
cores=$(nproc)
read -ra ranks <<<"${RANKS:-$(for ((w = 1; w <= cores; w *= 2)); do echo "$w"; done |
    xargs)}"
threads=${THREADS:-$((cores / ranks[-1] > 0 ? cores / ranks[-1] : 1))}
read -ra net <<<"--arch ${ARCH:-resnet18}"
batch=${BATCH:-64} size=${SIZE:-32} steps=${STEPS:-12}
# as root, and two ranks where there is one core
export GOMP_SPINCOUNT=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none \
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
    PRTE_MCA_hwloc_default_binding_policy=none
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"
if [[ ! -x $bin/foil-train-mpi ]] || ! command -v mpirun >/dev/null; then
    echo 'bench ranks skipped: no foil-train-mpi, or no mpirun'
    exit
fi
scratch

# run W : seconds of a step, and the share of others
run() {
    local code=0 command=("$bin/foil-train")
    [[ $1 -eq 1 ]] || command=(mpirun -n "$1" "$bin/foil-train-mpi")
    rm -rf "$work/run"
    "$bin/foil-augment" -r "$work/run" --size "$size" "$work/set.tar" \
        2>>"$work/log" &
    "$bin/foil-select" -r "$work/run" -b "$batch" -e "$steps" "$work/set.tar" \
        2>>"$work/log" &
    "${command[@]}" -r "$work/run" --threads "$threads" --steps "$steps" \
        --shards "${SHARDS:-$1}" --checkpoint-every 0 "${net[@]}" 2>>"$work/log" \
        </dev/null || code=$?
    jobs -p | xargs -r kill 2>/dev/null || true
    wait
    [[ $code -eq 0 ]] || { cat "$work/log" >&2; return 1; }
    jq -rs '.[2:] | (map(.seconds) | sort | .[length / 2 | floor]),
        (map(.exchanged // 0) | add) / (map(.seconds) | add)' \
        "$work/run/metrics.jsonl" | xargs
}

"$bin/foil-data" generate --size "$size" -o "$work/set.tar" "$((2 * batch))" \
    2>/dev/null
"$bin/foil-data" index "$work/set.tar" 2>/dev/null
one=
for w in "${ranks[@]}"; do
    line=$(run "$w")
    read -r seconds share <<<"$line"
    one=${one:-$seconds}
    printf 'bench ranks-%s-%sT ours %.4f s peer %.4f s ratio %s (others %.1f %%)\n' \
        "$w" "$threads" "$seconds" "$one" "$(ratio 2 "$one" "$seconds")" \
        "$(ratio 4 "$share" .01)"
done
