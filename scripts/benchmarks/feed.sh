#!/usr/bin/env bash
# feed.sh: what foil adds to a step of a GPU.  Encoders that compute nothing
# (feed_peer.py) train with batches of BATCH images of 32 px, first by row sums,
# foil-encoder(5), then with embeddings, whose loss foil computes: the step without its
# wait for images and without the encoder's own time, in ms, the median of STEPS steps, the
# best of RUNS runs of each OBJECTIVES, in turn.  At last the length of steps with
# 11 million weights, with a checkpoint each ten steps and without one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${BIN:-build/release/bin}" && pwd)
export PATH=$bin:$PATH PYTHONPATH=$here/../../pipelines/python OMP_NUM_THREADS=1
batch=${BATCH:-512} steps=${STEPS:-60} runs=${RUNS:-5}
read -ra objectives <<<"${OBJECTIVES:-simclr sogclr isogclr clip}"

# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"
wants feed torch
scratch
cd "$work"
foil-data generate -o set.tar --size 32 $((8 * batch)) 2>/dev/null
foil-data index set.tar 2>/dev/null

# feed RUN KIND WEIGHTS OPTION... : medians and least of steps, and of foil's share
feed() {
    local run=$1
    rm -rf "$run"
    mkdir -m 700 "$run"
    foil-select -r "$run" -b "$batch" -e $((steps / 8 + 1)) set.tar 2>/dev/null &
    foil-augment -r "$run" --size 32 set.tar 2>/dev/null &
    foil-train -r "$run" --max-batch "$batch" --threads 1 --steps "$steps" "${@:4}" \
        --encoder "'$python' '$here/feed_peer.py' encoder '$work/$run.log' $2 $3" \
        2>"$run.err" || {
        cat "$run.err" >&2
        return 1
    }
    wait
    "$python" "$here/feed_peer.py" share "$run" "$run.log"
}

for objective in "${objectives[@]}"; do
    for ((i = 0; i < runs; i++)); do
        for kind in sums embeddings; do
            feed run "$kind" 128 --checkpoint-every 0 --objective "$objective" >>"$objective-$kind"
        done
    done
    ours=$(awk '{ print $3 }' "$objective-sums" | shortest)
    peer=$(awk '{ print $3 }' "$objective-embeddings" | shortest)
    printf 'bench feed-%s ours %s ms peer %s ratio %s\n' "$objective" "$ours" "$peer" \
        "$(ratio 2 "$peer" "$ours")"
    echo "# shortest step by row sums: foil $(awk '{ print $4 }' "$objective-sums" | shortest) ms," \
        "with the encoder $(awk '{ print $2 }' "$objective-sums" | shortest)"
done
for ((i = 0; i < runs; i++)); do
    for every in 0 10; do
        feed run sums 11000000 --checkpoint-every "$every" >>"every-$every"
    done
done
with=$(awk '{ print $1 }' every-10 | shortest) without=$(awk '{ print $1 }' every-0 | shortest)
printf 'bench feed-checkpoints ours %s ms peer %s ratio %s\n' "$with" "$without" \
    "$(ratio 2 "$without" "$with")"
