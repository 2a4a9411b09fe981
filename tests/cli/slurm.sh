#!/usr/bin/env bash
# examples/slurm-one.sh as Slurm runs it: USR1 saves, ends and requeues the job, and the
# next one continues; an array of jobs embeds parts, which are joined.
# Not for sanitizers: a pipeline; other tests cover its stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
job=$(cd "${0%/*}/../../pipelines/examples" && pwd)/slurm-one.sh
cd "$work" || exit
mkdir bin
printf '#!/bin/sh\necho "$@" >>queue\n' >bin/scontrol
chmod +x bin/scontrol
export PATH=$work/bin:$BIN:$PATH OMP_NUM_THREADS=1 SLURM_JOB_ID=77 \
    SLURM_CPUS_PER_TASK=3
foil-data generate -o set.tar --size 8 22 2>/dev/null
foil-data index set.tar 2>/dev/null

# steps N : the metrics have at least N steps
steps() {
    [[ $(wc -l <run/metrics.jsonl) -ge $1 ]]
} 2>/dev/null

# works N : runs the job and sends it USR1 after N steps
works() {
    bash "$job" train set.tar run 2>>job.err &
    local pid=$! code=0
    becomes_true steps "$1" || code=1
    kill -USR1 "$pid"
    wait "$pid" || code=2
    [[ $code -eq 0 ]] || cat job.err
    return "$code"
}
ok 'the job exits with 0 after USR1' works 2
ok 'the job saves a checkpoint after USR1' test -e run/latest/MANIFEST.json
ok 'the job requeues itself after USR1' test "$(cat queue)" = 'requeue 77'
before=$(wc -l <run/metrics.jsonl)
ok 'the next job continues and exits with 0 after USR1' works $((before + 1))
ok 'the metrics have each step once' jq -se \
    'map(.total) == [range(1; length + 1)]' run/metrics.jsonl
ok 'the next job requeues itself' test "$(wc -l <queue)" -eq 2

export SLURM_ARRAY_TASK_COUNT=2
for SLURM_ARRAY_TASK_ID in 1 2; do
    export SLURM_ARRAY_TASK_ID
    ok "job $SLURM_ARRAY_TASK_ID of 2 embeds its part" bash "$job" embed set.tar run
done
if has_python numpy; then
    foil-embed -o all.npy run set.tar
    PATH=/usr/bin:$PATH
    ok 'the parts are joined' bash "$job" join run
    ok 'the joined parts are the features of all images' python3 -c 'import numpy as np
z, x = np.load("run/features.npz"), np.load("all.npy")
assert (z["ids"] == np.load("all.ids.npy")).all() and "labels" in z.files
assert abs(z["x"] - x).max() <= 1e-4 * abs(x).max()'
else
    skip 'the parts are joined' 'no python3-numpy'
fi
done_testing
