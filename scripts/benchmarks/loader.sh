#!/usr/bin/env bash
# loader.sh: an ordinary SimCLR loop in PyTorch on views by foil.views() against
# the same loop on DataLoader and torchvision with one worker, on CIFAR-10, or
# IMAGES images of it, for EPOCHS epochs, with seeds 1 to REPEAT, alternately.  Accuracy
# is that of the nearest neighbour; both should agree within noise.  Processor
# time an image is of all processes, with the training and without it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${BIN:-build/release/bin}" && pwd)
export PATH=$bin:$PATH PYTHONPATH=$here/../../pipelines/python OMP_NUM_THREADS=1

# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

wants loader torchvision
wants_data loader
scratch
foil-data index -o "$work/some.foil" "$data/cifar10-train.tar" 2>"$work/log"
foil-data index -o "$work/held.foil" "$data/cifar10-test.tar" 2>"$work/log"
if [[ -n ${IMAGES-} ]]; then
    mv "$work/some.foil" "$work/all.foil"
    foil-data split -n "$IMAGES" "$work/all.foil" "$work/some.foil" /dev/null
fi

# measure NAME EPOCHS [--only] : a line of each for each seed
measure() {
    local name=$1 seed loader
    shift
    for ((seed = 1; seed <= ${REPEAT:-3}; seed++)); do
        for loader in foil torch; do
            "$python" "$here/loader_peer.py" "$loader" "$work/some.foil" \
                "$work/held.foil" "$1" "$seed" "${@:2}" >>"$work/$name.$loader"
        done
    done
    paste "$work/$name.foil" "$work/$name.torch" >&2
}

# line NAME UNIT FIELD : medians of a field of both, and ours by theirs
line() {
    local ours peer
    ours=$(median "$3" <"$work/${1%%-*}.foil")
    peer=$(median "$3" <"$work/${1%%-*}.torch")
    printf 'bench loader-%s ours %s %s peer %s ratio %s\n' "$1" "$ours" "$2" \
        "$peer" "$(awk "BEGIN { printf \"%.3g\", $ours / $peer }")"
}

measure views 2 --only
measure train "${EPOCHS:-3}"
for what in views train; do
    line "$what-speed" images/s 1
    line "$what-cpu" us/image 2
done
line train-accuracy 1-NN 3
