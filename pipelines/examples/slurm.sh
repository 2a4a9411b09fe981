#!/bin/bash
# A training on four machines, in as many jobs as needed: foil-ranks(7).
#
# usage: sbatch pipelines/examples/slurm.sh DATA.foil RUN [OPTION ...]
#
# OPTIONs of foil-train replace its own below; BATCH and EPOCHS are read from the
# environment.  Two minutes before the time limit the trainer saves and ends, and
# the job is requeued.  Feeders are on the first machine, with rank 0, and use two
# cores of their own.
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=12:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
set -u
data=$1 run=$2
shift 2
[[ $# -gt 0 ]] || set -- --shards 4 --threads 14 --arch resnet50
mkdir -p "$run" && chmod 700 "$run"

foil-select -r "$run" --batch "${BATCH:-512}" --epochs "${EPOCHS:-100}" \
    "$data" &
selector=$!
foil-augment -r "$run" "$data" &
augmenter=$!
srun --mpi=pmix --cpu-bind=none foil-train-mpi -r "$run" --resume "$@" &
trainer=$!

asked=
trap 'asked=yes; kill -USR1 $trainer' USR1
wait "$trainer"
code=$?
# a wait that was interrupted by the signal does not have the exit status
[[ -z $asked ]] || { wait "$trainer"; code=$?; }
kill "$selector" "$augmenter" 2>/dev/null
[[ $code -ne 0 || -z $asked ]] || scontrol requeue "$SLURM_JOB_ID"
exit "$code"
