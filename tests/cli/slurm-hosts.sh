#!/usr/bin/env bash
# examples/slurm.sh run by Slurm on two machines (network namespaces): a job that gets
# USR1 before its end saves and requeues itself; the next one continues, with the bits of
# one process.
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

# at HOST COMMAND... : replaces this shell by COMMAND on that host, but with this
# machine's /sys, since slurmd needs its control groups
at() {
    # shellcheck disable=SC2016 # for that bash
    exec nsenter --net="/run/netns/$1" unshare --uts \
        bash -c 'hostname "$0"; exec "$@"' "$@"
}

# slurm COMMAND... : on host $near
slurm() (at "$near" "$@")

# no_job : cancels all jobs; succeeds when none is left
no_job() {
    slurm scancel --user=root
    [[ -z $(slurm squeue --noheader 2>&1) ]]
}
# jobs first: the daemons would leave them running
trap '[[ -z ${id-} ]] || becomes_true no_job
    kill "${daemons[@]}" 2>/dev/null; wait; cd /; rm -rf "$work"; unlink_hosts' EXIT
trap 'exit 1' INT TERM HUP

# configure : writes the configuration of Slurm with two nodes, and a key for munged
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

# daemon COMMAND... : runs it in the background
daemon() {
    "$@" >>daemons.log 2>&1 &
    daemons+=($!)
}

# is_up : both nodes are idle
is_up() {
    [[ $(slurm sinfo --noheader --format '%T %D' 2>&1) == 'idle 2' ]]
}
export SLURM_CONF=$work/slurm.conf OMP_NUM_THREADS=1
configure
ok 'two hosts are connected' link_hosts
daemon munged --force --foreground --key-file="$work/munge.key" \
    --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
    --log-file="$work/munge/log" --seed-file="$work/munge/seed"
ok 'munged starts' becomes_true test -S munge/socket
daemon at "$near" slurmctld -D
for host in "$near" "$far"; do
    daemon at "$host" slurmd -D -N "$host"
done
ok 'Slurm starts with two nodes' becomes_true is_up

"$BIN/foil-data" generate --size 12 -o pics.tar 60 2>/dev/null
"$BIN/foil-data" index -o set.foil pics.tar 2>/dev/null
net=(--threads 1 --arch resnet8 --head 16-8 --shards 2 --schedule constant)
submit() {
    PATH=$BIN:$PATH BATCH=16 EPOCHS=100000 slurm sbatch --parsable --nodes=2 \
        --cpus-per-task=1 --time=10 --output=job.out --open-mode=append "$job" \
        "$work/set.foil" "$work/run" "${net[@]}"
}
ok 'sbatch queues the job' submit
id=$(<out)

# send_usr1 N : sends USR1 after N steps, as Slurm does before the end of the time limit
send_usr1() {
    becomes_true has_steps run "$1" && slurm scancel --batch --signal=USR1 "$id"
}

# is_requeued N : it is queued or runs for the Nth time after the first
is_requeued() {
    slurm scontrol show job "$id" | grep " Restarts=$1 "
}
ok 'the job gets USR1 after 5 steps' send_usr1 5
ok 'the job requeues itself' becomes_true is_requeued 1
before=$(steps run)
ok 'the requeued job continues' send_usr1 $((before + 5))
ok 'the requeued job requeues itself' becomes_true is_requeued 2
ok 'no job is left after scancel' becomes_true no_job
after=$(steps run)
alone() {
    "$BIN/foil-augment" -r alone set.foil 2>/dev/null &
    "$BIN/foil-select" -r alone -b 16 -e 100000 set.foil 2>/dev/null &
    "$BIN/foil-train" -r alone "${net[@]}" --steps "$after" 2>&1 </dev/null
}
ok 'a run by one process trains as many steps' alone
for file in model head optim samples; do
    ok "the jobs and one process have the same $file" \
        cmp {run,alone}/latest/$file.safetensors
done
done_testing
