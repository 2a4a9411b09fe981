#!/usr/bin/env bash
# foil run --ranks 2 --hosts: with a rank that mpirun starts by ssh, the run has the bits
# of one process.  The test has its own sshd and keys.
# Not for sanitizers: MPI does not give all of its memory back
# Mostly waits, 10 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
needs_hosts 'ranks by ssh' sshd
needs_network 'ranks by ssh'
trap 'kill $(jobs -p) 2>/dev/null; wait; cd /; rm -rf "$work"; unlink_hosts' EXIT
trap 'exit 1' INT TERM HUP
cd "$work" || exit
chmod 711 .

# begin_sshd : on host $far
begin_sshd() {
    mkdir -p /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f key
    ssh-keygen -q -t ed25519 -N '' -f host
    echo "10.64.0.2 $(<host.pub)" >known
    cat >sshd.conf <<END
ListenAddress 10.64.0.2
HostKey $work/host
AuthorizedKeysFile $work/key.pub
StrictModes no
PermitRootLogin prohibit-password
UsePAM no
SetEnv PATH=$BIN:/usr/bin:/bin
PidFile none
END
    cat >ssh.conf <<END
Host *
IdentityFile $work/key
UserKnownHostsFile $work/known
BatchMode yes
END
    on "$far" "$(command -v sshd)" -D -f "$work/sshd.conf" -E "$work/sshd.log" &
    becomes_true ip netns exec "$near" ssh -F ssh.conf 10.64.0.2 true
}
ok 'two hosts are connected' link_hosts
ok 'sshd accepts connections' begin_sshd
# for Open MPI 4 and 5
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_plm_rsh_agent="ssh -F $work/ssh.conf" \
    PRTE_MCA_plm_ssh_agent="ssh -F $work/ssh.conf" OMPI_MCA_btl=tcp,self \
    OMPI_MCA_hwloc_base_binding_policy=none \
    PRTE_MCA_hwloc_default_binding_policy=none OMP_NUM_THREADS=1
printf '%s slots=1\n' "$near" 10.64.0.2 >hosts
"$BIN/foil-data" generate --size 12 -o pics.tar 60 2>/dev/null
"$BIN/foil-data" index pics.tar 2>/dev/null

# piped RUN OPTION... : runs a pipeline
piped() (
    on "$near" "$BIN/foil" run simclr -r "$1" --epochs 2 --batch 16 --augmenters 1 \
        --threads 1 --augment '--size 8' \
        --train '--arch resnet8 --head 16-8 --shards 2' "${@:2}" pics.tar 2>&1 </dev/null
)
ok 'a run by one process succeeds' piped one
before=$(grep -c '^Accepted publickey' sshd.log)
ok 'a run by two hosts succeeds' piped two --ranks 2 --hosts hosts
ok 'the rank of the other host was started by ssh' \
    test "$(grep -c '^Accepted publickey' sshd.log)" -gt "$before"
for file in model head optim; do
    ok "both runs have the same $file" cmp {one,two}/latest/$file.safetensors
done
printf 'nowhere slots=2\n' >hosts
ok 'an unknown host ends the run with 1' exits 1 piped none --ranks 2 --hosts hosts
ok 'the error says that mpirun starts no processes' \
    grep -q "mpirun starts no processes: run '.*' to see why" out
ok 'the error comes before a stage starts' test ! -e none
done_testing
