#!/usr/bin/env bash
# foil-train-mpi on two hosts (network namespaces) has the bits of one process over TCP;
# a host that is cut off ends the run and is named; the resumed run has the same bits.
# Not for sanitizers: MPI does not give all of its memory back
# Mostly waits, 40 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

if [[ ! -x $BIN/foil-train-mpi ]] || ! command -v mpirun >/dev/null; then
    skip 'ranks on two hosts' 'no foil-train-mpi, or no mpirun'
    done_testing
fi
needs_network 'ranks on two hosts'
trap 'kill $(jobs -p) 2>/dev/null; wait; cd /; rm -rf "$work"; unlink_hosts' EXIT
trap 'exit 1' INT TERM HUP
cd "$work" || exit

ok 'two hosts are connected' link_hosts

# mpirun runs this instead of ssh: HOST COMMAND
cat >agent <<EOF
#!/usr/bin/env bash
[[ \$1 == 10.64.0.1 ]] && name=$near || name=$far
shift
exec ip netns exec "\$name" unshare --uts bash -c "hostname \$name; \$*"
EOF
chmod +x agent
# for Open MPI 4 and 5
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_plm_rsh_agent=$work/agent PRTE_MCA_plm_ssh_agent=$work/agent \
    OMPI_MCA_btl=tcp,self OMPI_MCA_oob_tcp_keepalive_time=5 \
    OMPI_MCA_oob_tcp_keepalive_intvl=2 OMPI_MCA_oob_tcp_keepalive_probes=3 \
    PRTE_MCA_oob_tcp_keepalive_time=5 PRTE_MCA_oob_tcp_keepalive_intvl=2 \
    PRTE_MCA_oob_tcp_keepalive_probes=3 OMPI_MCA_hwloc_base_binding_policy=none \
    PRTE_MCA_hwloc_default_binding_policy=none OMP_NUM_THREADS=1

# begin_run RUN EPOCHS OPTION... : starts a rank on each host; mpirun is $trainer
begin_run() {
    "$BIN/foil-augment" -r "$1" --size 8 set.foil 2>"$1.augment" &
    "$BIN/foil-select" -r "$1" -b 16 -e "$2" set.foil 2>"$1.select" &
    on "$near" mpirun -n 2 -H "$near:1,10.64.0.2:1" "$BIN/foil-train-mpi" -r "$1" \
        "${net[@]}" "${@:3}" 2>"$1.train" </dev/null &
    trainer=$!
}

# fails RUN : the trainer exits with another code than 0
fails() {
    local code=0
    wait "$trainer" || code=$?
    cat "$1.train"
    test "$code" -ne 0
}

ok 'foil-data generate makes images' "$BIN/foil-data" generate --size 12 -o pics.tar 60
ok 'foil-data index makes their index' "$BIN/foil-data" index -o set.foil pics.tar
net=(--threads 1 --arch resnet8 --head 16-8-bn --shards 2)
# alone RUN EPOCHS OPTION... : a run of one process
alone() {
    "$BIN/foil-augment" -r "$1" --size 8 set.foil 2>"$1.augment" &
    "$BIN/foil-select" -r "$1" -b 16 -e "$2" set.foil 2>"$1.select" &
    "$BIN/foil-train" -r "$1" "${net[@]}" "${@:3}" 2>"$1.train" </dev/null
}
# same RUN RUN : weights and moments are equal
same() {
    cmp {"$1","$2"}/latest/model.safetensors && cmp {"$1","$2"}/latest/optim.safetensors
}
ok 'a run by one process succeeds' alone calm 2 --norm-over batch
begin_run both 2 --norm-over batch --deadline 60
ok 'a run by two hosts succeeds' exits 1 fails both
ok 'a run by two hosts has the weights and moments of one process' same calm both

ok 'a longer run by one process succeeds' alone long 60
begin_run lost 60 --checkpoint-every 2 --deadline 40
ok 'two hosts train 5 steps' reaches lost 5
# mpirun has to see it first: a full connection takes long to fail
ip -n "$near" link set foil0 down
# is_over RUN : mpirun has ended, and rank 0, too, which Open MPI 5 leaves running
is_over() {
    local code=0
    wait "$trainer" || code=$?
    cat "$1.train"
    [[ $code -ne 0 ]] || grep 'PRTE has lost' "$1.train" || return
    becomes_true exits 1 pgrep -f "^$BIN/foil-train-mpi -r $1 "
}
ok 'the run ends after a host is cut off' is_over lost
ok 'the error names the host that is cut off' grep -qE "$far|10\.64\.0\.2" lost.train
ok 'the run has ended before its last step' exits 1 same long lost
ok 'one process resumes the run' "$BIN/foil-train" -r lost --threads 1 --resume
ok 'the resumed run has the weights and moments of the calm run' same long lost
mapfile -t feeders < <(jobs -p)
kill "${feeders[@]}" 2>/dev/null

done_testing
