#!/usr/bin/env bash
# link.sh: a step with RANKS ranks, 2 by default, each on a host of its own (a network
# namespace), by the rate of each link to their switch, limited by tc(8): the shortest of
# the steps after the first two, and a model: the step with unlimited links, plus the
# bytes that rank 0 sends, its images and 8 of each weight, less its own share, at that
# rate, less the overlap with computation.  As root, with iproute2.  RATES of tc, ARCH with further options of
# foil-train (by default of many weights and little to compute), BATCH, SIZE of views,
# STEPS; of Open MPI, OMPI_MCA_btl_tcp_flags=1 as in foil-ranks(7).
set -eu
bin=$(cd "${BIN:-build/release/bin}" && pwd)
read -ra rates <<<"${RATES:-50mbit 200mbit 1gbit}"
read -ra net <<<"--arch ${ARCH:-linear --head 4096-128}"
batch=${BATCH:-8} size=${SIZE:-32} steps=${STEPS:-6} ranks=${RANKS:-2}
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"
switch=link-$$-0
if [[ ! -x $bin/foil-train-mpi ]] || ! command -v mpirun >/dev/null ||
    ! ip netns add "$switch" 2>/dev/null || ! ip netns exec "$switch" true 2>/dev/null; then
    ip netns del "$switch" 2>/dev/null || true
    echo 'bench link skipped: no foil-train-mpi, no mpirun, or no ip netns'
    exit
fi
scratch
trap 'jobs -p | xargs -r kill 2>/dev/null || true; wait; rm -rf "$work"
    for ((i = 0; i <= ranks; i++)); do ip netns del "link-$$-$i"; done' EXIT
ip -n "$switch" link add switch type bridge
ip -n "$switch" link set switch up
# Open MPI 5 knows the host of mpirun by its name
hosts=link-$$-1:1
for ((i = 1; i <= ranks; i++)); do
    host=link-$$-$i
    ip netns add "$host"
    ip -n "$host" link add foil0 type veth peer name "foil$i" netns "$switch"
    ip -n "$host" addr add "10.64.0.$i/24" dev foil0
    ip -n "$host" link set lo up
    ip -n "$host" link set foil0 up
    ip -n "$switch" link set "foil$i" master switch up
    [[ $i -eq 1 ]] || hosts+=,10.64.0.$i:1
done
cat >"$work/agent" <<END
#!/usr/bin/env bash
name=link-$$-\${1##*.}
shift
exec ip netns exec "\$name" unshare --uts bash -c "hostname \$name; \$*"
END
chmod +x "$work/agent"
export GOMP_SPINCOUNT=0 OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 \
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=$work/agent \
    PRTE_MCA_plm_ssh_agent=$work/agent OMPI_MCA_btl=tcp,self \
    OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none

# run : shortest step
run() {
    rm -rf "$work/run"
    "$bin/foil-augment" -r "$work/run" --size "$size" "$work/set.tar" 2>>"$work/log" &
    "$bin/foil-select" -r "$work/run" -b "$batch" -e "$steps" "$work/set.tar" \
        2>>"$work/log" &
    ip netns exec "link-$$-1" unshare --uts bash -c "hostname link-$$-1; exec \"\$@\"" x \
        mpirun -n "$ranks" -H "$hosts" "$bin/foil-train-mpi" -r "$work/run" \
        --threads 1 --shards "$ranks" --steps "$steps" --checkpoint-every 0 \
        "${net[@]}" </dev/null 2>>"$work/log" || { cat "$work/log" >&2; return 1; }
    jobs -p | xargs -r kill 2>/dev/null || true
    wait
    jq -s '.[2:] | map(.seconds) | min' "$work/run/metrics.jsonl"
}

"$bin/foil-data" generate --size "$size" -o "$work/set.tar" "$((2 * batch))" 2>/dev/null
"$bin/foil-data" index "$work/set.tar" 2>/dev/null
free=$(run)
all=$(($(cat "$work"/run/latest/{model,head}.safetensors | wc -c) + batch * size * size * 3))
sent=$((2 * all * (ranks - 1) / ranks))
echo "# a step of $free s where the links are free, $sent bytes"
for rate in "${rates[@]}"; do
    for ((i = 1; i <= ranks; i++)); do
        for end in "link-$$-$i foil0" "$switch foil$i"; do
            ip netns exec "${end% *}" tc qdisc replace dev "${end#* }" root \
                tbf rate "$rate" burst 64kb latency 50ms
        done
    done
    bits=${rate/kbit/000} bits=${bits/mbit/000000} bits=${bits/gbit/000000000}
    model=$(awk "BEGIN { printf \"%.3f\", $free + 8 * $sent / $bits }")
    step=$(run)
    printf 'bench link-%s-%s ours %.3f s peer %.3f s ratio %s\n' "$ranks" "$rate" \
        "$step" "$model" "$(ratio 2 "$model" "$step")"
done
