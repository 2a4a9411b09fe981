#!/usr/bin/env bash
# augment.sh: JPEGs decoded and made into two views each, against PIL and
# torchvision, on one core.  Ours reads each file from the tar and checks its
# digest; the peer has its files in memory.  One is run after the other, REPEAT
# times; the medians are compared, per second of processor time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bench=${BENCH:-build/release/tests/bench}
bin=${BIN:-build/release/bin}
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

wants augment torchvision
wants_data augment
scratch

# compare NAME TAR RECIPE COUNT PEER_COUNT
compare() {
    local ours='' peer=''
    "$bin/foil-data" index -o "$work/$1.foil" "$data/$2" 2>"$work/log" ||
        { cat "$work/log" >&2; return 1; }
    for ((i = 0; i < ${REPEAT:-5}; i++)); do
        ours+=$(taskset -c 0 "$bench/bench_augment" "$work/$1.foil" "$4" \
            "$3")$'\n'
        peer+=$(OMP_NUM_THREADS=1 taskset -c 0 "$python" \
            "$here/augment_peer.py" "$data/$2" "$5" "$3")$'\n'
    done
    ours=$(printf %s "$ours" | median 1) peer=$(printf %s "$peer" | median 1)
    printf 'bench augment-%s ours %s images/s peer %s ratio %s\n' "$1" \
        "$ours" "$peer" "$(ratio 1 "$ours" "$peer")"
}

compare 32px cifar10-train.tar cifar 50000 2000
compare 32px-blur cifar10-train.tar isogclr 50000 2000
compare photo-224px coco-mini-000000.tar imagenet 1590 159
