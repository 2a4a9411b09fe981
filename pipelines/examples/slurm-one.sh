#!/bin/bash
# A training on one machine of a cluster by Slurm, in as many jobs as needed, and
# then features of a large set by an array of parallel jobs.
#
# usage: sbatch pipelines/examples/slurm-one.sh train DATA.foil RUN
#        foil sweep ... --sbatch   submits it, to train each cell with each seed
#        sbatch --array=1-8 pipelines/examples/slurm-one.sh embed DATA.foil RUN
#        pipelines/examples/slurm-one.sh join RUN
#
# Two minutes before the time limit the run saves and ends, and the job is requeued;
# it continues to the same bits.  Job I of the array of N writes RUN/features/I.npy
# and its lists, for the I-th of N parts of the images; `join` makes
# RUN/features.npz of them, by numpy.
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --time=12:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
set -u

# continues COMMAND... : runs it; at USR1 saves and ends it, and requeues the job
continues() {
    local asked='' code=0
    "$@" &
    local command=$!
    # a second signal would end it without saving
    trap '[[ -n $asked ]] || kill "$command"; asked=yes' USR1
    wait "$command" || code=$?
    # a wait that was interrupted by the signal does not have the exit status
    [[ -z $asked ]] || { wait "$command"; code=$?; }
    [[ -n $asked ]] || return "$code"
    scontrol requeue "$SLURM_JOB_ID"
}

# train DATA RUN
train() {
    local words=()
    [[ ! -e $2/latest ]] || words=(--resume)
    continues foil run simclr "$1" -r "$2" --epochs 200 \
        --threads $((SLURM_CPUS_PER_TASK - 2)) "${words[@]}" # two for feeders
}

# sweep ARG... : the training of a sweep with the number of this job in its array
sweep() {
    continues foil sweep "$@" --task "$SLURM_ARRAY_TASK_ID"
}

# embed DATA RUN
embed() {
    mkdir -p "$2/features"
    foil embed -o "$2/features/$SLURM_ARRAY_TASK_ID.npy" \
        --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" "$2" "$1"
}

# join RUN
join() {
    python3 - "$1" <<'END'
import glob, os, sys
import numpy as np
at = sys.argv[1] + "/features"
n = len(glob.glob(at + "/*.ids.npy"))
lists = {"x": "", "ids": ".ids", "labels": ".labels"}
np.savez(at, **{name: np.concatenate([np.load(f"{at}/{i + 1}{end}.npy") for i in range(n)])
                for name, end in lists.items() if os.path.exists(f"{at}/1{end}.npy")})
END
}

"$@"
