#!/usr/bin/env bash
# encoder.sh: encoders in programs.  First the waits of a step besides the program, with
# a program that sleeps for SLEEP milliseconds like a GPU, for batches of 256
# images at 224 px; long sleeps, since two cores cannot make so many views in 20 ms.  Then
# a ResNet-18 on CIFAR-10, or IMAGES images of it, for two epochs on one thread: in
# foil-train, in PyTorch by foil.encode(), and in an ordinary loop in PyTorch; with the
# stem of ImageNet if STEM is "imagenet", at a sixteenth of the work.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${BIN:-build/release/bin}" && pwd)
export PATH=$bin:$PATH PYTHONPATH=$here/../../pipelines/python OMP_NUM_THREADS=1
stem=${STEM:-small}

# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"
scratch
cd "$work"

# pretend NAME BATCH SIZE SLEEP : its waits in a step, in ms: for
# requests and pixels, and for the gradient of the embeddings
pretend() {
    foil-data generate -o "$1.tar" --size "$3" "$2" 2>/dev/null
    foil-data index "$1.tar" 2>/dev/null
    mkdir -m 700 "$1"
    foil-select -r "$1" -b "$2" -e 12 "$1.tar" 2>/dev/null &
    foil-augment -r "$1" --size "$3" "$1.tar" 2>/dev/null &
    foil-train -r "$1" --max-batch 256 --threads 1 --encoder \
        "'$python' '$here/encoder_peer.py' gpu '$work/$1.report' $4" 2>"$1.err" ||
        cat "$1.err" >&2
    wait
    cat "$1.report"
}
read -r waits loss < <(pretend gpu 256 224 "${SLEEP:-2500}")
printf 'bench encoder-waits ours %s ms peer 20 ratio %s\n' "$waits" \
    "$(ratio 3 "$waits" 20)"
echo "# besides 20 ms on a GPU: the loss of 512 rows $loss ms"

wants encoder torchvision
wants_data encoder
foil-data index -o some.foil "$data/cifar10-train.tar" 2>/dev/null
foil-data index -o held.foil "$data/cifar10-test.tar" 2>/dev/null
if [[ -n ${IMAGES-} ]]; then
    mv some.foil all.foil
    foil-data split -n "$IMAGES" all.foil some.foil /dev/null
fi
images=$(($(foil-data info some.foil | awk '/^samples/ { print $2 }') / 128 * 128 * 2))

# train RUN OPTION... : processor microseconds an image, and the accuracy of the
# nearest neighbour
train() {
    local TIMEFORMAT='%U %S'
    { time foil run simclr --no-compare some.foil -r "$1" --epochs 2 --batch 128 --threads 1 \
        --select '--remainder drop' --augment '--size 32 --recipe cifar' --train "--objective ,tau=0.1 --arch resnet18,stem=$stem,width=64 \
--head 512-128 --precision f32 --lr 0.1 --warmup 0 --schedule constant ${*:2}" 2>"$1.err"; } 2>"$1.time"
    foil-embed -o "$1.npy" "$1" some.foil 2>/dev/null
    foil-embed -o "$1-held.npy" "$1" held.foil 2>/dev/null
    awk -v n="$images" -v acc="$(foil-eval knn -k 1 "$1.npy" "$1-held.npy" |
        jq -r .accuracy)" '{ printf "%.0f %s\n", 1e6 * ($1 + $2) / n, acc }' "$1.time"
}
read -r ours accuracy < <(train native)
read -r both by_both < <(train torch "--encoder \"$python $here/encoder_peer.py encode $stem\"")
read -r plain by_plain < <("$python" "$here/encoder_peer.py" plain \
    "$stem" some.foil held.foil 2)
printf 'bench encoder-resnet18 ours %s us/image peer %s ratio %s\n' "$both" "$plain" \
    "$(ratio 2 "$plain" "$both")"
printf 'bench encoder-resnet18-native ours %s us/image peer %s ratio %s\n' "$ours" \
    "$plain" "$(ratio 2 "$plain" "$ours")"
echo "# 1-NN: foil-train $accuracy, with PyTorch's encoder $by_both, plain $by_plain"
