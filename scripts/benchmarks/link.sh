#!/usr/bin/env bash
# link.sh: a step by two ranks on two hosts, which are network namespaces here, by the
# rate to which tc(8) holds the link between them: the shortest of the steps behind the
# first two, beside a model: the step where the link is free, and the bytes that rank 0
# sends, its images and 4 of each weight, at that rate; less where they are sent while
# it computes.  As root, with iproute2.  RATES of tc, ARCH with further options of
# foil-train (by default of many weights and little to compute), BATCH, SIZE of views,
# STEPS; of Open MPI, OMPI_MCA_btl_tcp_flags=1 as foil-ranks(7) tells.
set -eu
bin=$(cd "${BIN:-build/release/bin}" && pwd)
read -ra rates <<<"${RATES:-50mbit 200mbit 1gbit}"
read -ra net <<<"--arch ${ARCH:-linear --head 4096-128}"
batch=${BATCH:-8} size=${SIZE:-32} steps=${STEPS:-6}
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"
near=near-$$ far=far-$$
if [[ ! -x $bin/foil-train-mpi ]] || ! command -v mpirun >/dev/null ||
    ! ip netns add "$near" 2>/dev/null || ! ip netns exec "$near" true 2>/dev/null; then
    ip netns del "$near" 2>/dev/null || true
    echo 'bench link skipped: no foil-train-mpi, no mpirun, or no ip netns'
    exit
fi
scratch
trap 'jobs -p | xargs -r kill 2>/dev/null || true; wait; rm -rf "$work"
    ip netns del "$near"; ip netns del "$far"' EXIT
ip netns add "$far"
ip -n "$near" link add foil0 type veth peer name foil1 netns "$far"
ip -n "$near" addr add 10.64.0.1/24 dev foil0
ip -n "$far" addr add 10.64.0.2/24 dev foil1
for host in "$near foil0" "$far foil1"; do
    ip -n "${host% *}" link set lo up
    ip -n "${host% *}" link set "${host#* }" up
done
cat >"$work/agent" <<END
#!/usr/bin/env bash
[[ \$1 == 10.64.0.1 ]] && name=$near || name=$far
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
    ip netns exec "$near" unshare --uts bash -c "hostname $near; exec \"\$@\"" x \
        mpirun -n 2 -H "$near:1,10.64.0.2:1" "$bin/foil-train-mpi" -r "$work/run" \
        --threads 1 --shards 2 --steps "$steps" --checkpoint-every 0 "${net[@]}" \
        </dev/null 2>>"$work/log" || { cat "$work/log" >&2; return 1; }
    jobs -p | xargs -r kill 2>/dev/null || true
    wait
    jq -s '.[2:] | map(.seconds) | min' "$work/run/metrics.jsonl"
}

"$bin/foil-data" generate --size "$size" -o "$work/set.tar" "$((2 * batch))" 2>/dev/null
"$bin/foil-data" index "$work/set.tar" 2>/dev/null
free=$(run)
sent=$(($(cat "$work"/run/latest/{model,head}.safetensors | wc -c) + batch * size * size * 3))
echo "# a step of $free s where the link is free, $sent bytes"
for rate in "${rates[@]}"; do
    for host in "$near foil0" "$far foil1"; do
        ip netns exec "${host% *}" tc qdisc replace dev "${host#* }" root \
            tbf rate "$rate" burst 64kb latency 50ms
    done
    bits=${rate/kbit/000} bits=${bits/mbit/000000} bits=${bits/gbit/000000000}
    model=$(awk "BEGIN { printf \"%.3f\", $free + 8 * $sent / $bits }")
    step=$(run)
    printf 'bench link-%s ours %.3f s peer %.3f s ratio %s
' "$rate" "$step" "$model" \
        "$(ratio 2 "$model" "$step")"
done
