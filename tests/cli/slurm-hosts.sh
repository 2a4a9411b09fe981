#!/usr/bin/env bash
# examples/slurm.sh by Slurm itself, on two machines, which are network namespaces: a
# job that is told of its end saves and queues itself again, and the next one goes on
# to the same bits.
# Not for sanitizers: MPI does not give all of its memory back
# Mostly waits, 20 s
job=$(cd "${0%/*}/../../pipelines/examples" && pwd)/slurm.sh
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
needs_hosts 'a job of Slurm' munged slurmctld slurmd sbatch
needs_network 'a job of Slurm'
cd "$work" || exit
daemons=()

# at HOST COMMAND... : there, in place of this shell; with this machine's /sys, of which
# slurmd wants the control groups
at() {
    # shellcheck disable=SC2016 # for that bash
    exec nsenter --net="/run/netns/$1" unshare --uts \
        bash -c 'hostname "$0"; exec "$@"' "$@"
}

# slurm COMMAND... : on the host that is near
slurm() (at "$near" "$@")

# no_job : what runs is ended
no_job() {
    slurm scancel --user=root
    [[ -z $(slurm squeue --noheader 2>&1) ]]
}
# before the daemons, which would leave it
trap '[[ -z ${id-} ]] || becomes_true no_job
    kill "${daemons[@]}" 2>/dev/null; wait; cd /; rm -rf "$work"; unlink_hosts' EXIT
trap 'exit 1' INT TERM HUP

# configure : Slurm with two nodes, and its own munged
configure() {
    mkdir -p state munge {spool,tmp}/{"$near","$far"}
    chmod 711 "$work"
    (umask 077 && head -c 128 /dev/urandom >munge.key)
    cat >slurm.conf <<END
ClusterName=foil
SlurmctldHost=$near(10.64.0.1)
SlurmUser=root
SlurmdUser=root
AuthInfo=socket=$work/munge/socket,cred_expire=5
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=$work/state
SlurmctldPidFile=$work/state/pid
SlurmdPidFile=$work/spool/%n/pid
SlurmdSpoolDir=$work/spool/%n
SlurmdParameters=config_overrides
TmpFS=$work/tmp/%n
ReturnToService=2
NodeName=$near NodeAddr=10.64.0.1 CPUs=2
NodeName=$far NodeAddr=10.64.0.2 CPUs=2
PartitionName=all Nodes=$near,$far Default=YES State=UP
END
}

# daemon COMMAND... : in the background
daemon() {
    "$@" >>daemons.log 2>&1 &
    daemons+=($!)
}

# is_up : both nodes wait for work
is_up() {
    [[ $(slurm sinfo --noheader --format '%T %D' 2>&1) == 'idle 2' ]]
}
export SLURM_CONF=$work/slurm.conf OMP_NUM_THREADS=1
configure
ok 'two hosts are connected' link_hosts
daemon munged --force --foreground --key-file="$work/munge.key" \
    --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
    --log-file="$work/munge/log" --seed-file="$work/munge/seed"
ok 'munged' becomes_true test -S munge/socket
daemon at "$near" slurmctld -D
for host in "$near" "$far"; do
    daemon at "$host" slurmd -D -N "$host"
done
ok 'Slurm with two nodes' becomes_true is_up

"$BIN/foil-data" generate --size 12 -o pics.tar 60 2>/dev/null
"$BIN/foil-data" index -o set.foil pics.tar 2>/dev/null
net=(--threads 1 --arch resnet8 --head 16-8 --shards 2 --schedule constant)
submit() {
    PATH=$BIN:$PATH BATCH=16 EPOCHS=100000 slurm sbatch --parsable --nodes=2 \
        --cpus-per-task=1 --time=10 --output=job.out --open-mode=append "$job" \
        "$work/set.foil" "$work/run" "${net[@]}"
}
ok 'a job' submit
id=$(<out)

# is_told N : after so many steps it is, as it would be before the end of its time
is_told() {
    becomes_true has_steps run "$1" && slurm scancel --batch --signal=USR1 "$id"
}

# is_again N : it waits or runs for the Nth time
is_again() {
    slurm scontrol show job "$id" | grep " Restarts=$1 "
}
ok 'is told of its end after 5 steps' is_told 5
ok 'and queues itself again' becomes_true is_again 1
before=$(steps run)
ok 'its next one goes on' is_told $((before + 5))
ok 'and is queued again, too' becomes_true is_again 2
ok 'no job is left' becomes_true no_job
after=$(steps run)
alone() {
    "$BIN/foil-augment" -r alone set.foil 2>/dev/null &
    "$BIN/foil-select" -r alone -b 16 -e 100000 set.foil 2>/dev/null &
    "$BIN/foil-train" -r alone "${net[@]}" --steps "$after" 2>&1 </dev/null
}
ok 'as many steps by one process' alone
for file in model head optim samples; do
    ok "leave the same $file" cmp {run,alone}/latest/$file.safetensors
done
done_testing
