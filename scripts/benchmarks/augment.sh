#!/usr/bin/env bash
# augment.sh: JPEGs decoded and made into two views each, against PIL with
# torchvision and against OpenCV, the faster of both, on one core.  Ours
# reads each file from the tar and checks its digest; the peers have their files
# in memory.  One is run after the other, REPEAT times; the medians are compared,
# per second of processor time.  Photos are made here, of the size of ImageNet's,
# 500 x 375 and 77 kB: 224 pixels of smaller ones would be an enlargement, which
# hardly tests decoding.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bench=${BENCH:-build/release/tests/bench}
bin=${BIN:-build/release/bin}
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

wants augment torchvision cv2
scratch

# peer_of SCRIPT TAR COUNT RECIPE
peer_of() {
    OMP_NUM_THREADS=1 taskset -c 0 "$python" "$here/$1" "${@:2}"
}

# compare NAME TAR RECIPE COUNT PEER_COUNT
compare() {
    local ours='' pil='' cv='' peer name
    "$bin/foil-data" index -o "$work/$1.foil" "$2" 2>"$work/log" ||
        { cat "$work/log" >&2; return 1; }
    for ((i = 0; i < ${REPEAT:-5}; i++)); do
        ours+=$(taskset -c 0 "$bench/bench_augment" "$work/$1.foil" "$4" \
            "$3")$'\n'
        pil+=$(peer_of augment_peer.py "$2" "$5" "$3")$'\n'
        cv+=$(peer_of augment_cv_peer.py "$2" "$5" "$3")$'\n'
    done
    ours=$(printf %s "$ours" | median 1) pil=$(printf %s "$pil" | median 1)
    cv=$(printf %s "$cv" | median 1)
    peer=$pil name=PIL
    [[ $cv -le $pil ]] || peer=$cv name=OpenCV
    printf 'bench augment-%s ours %s images/s peer %s ratio %s %s\n' "$1" \
        "$ours" "$peer" "$(ratio 1 "$ours" "$peer")" "$name"
    echo "# augment-$1: PIL and torchvision $pil, OpenCV $cv images/s"
}

"$python" "$here/photos.py" "$work/photos.tar" 128
compare photo-224px "$work/photos.tar" imagenet 512 256
wants_data augment
compare 32px "$data/cifar10-train.tar" cifar 50000 2000
compare 32px-blur "$data/cifar10-train.tar" isogclr 50000 2000
