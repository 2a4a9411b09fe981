#!/usr/bin/env bash
# step.sh: a training step, and features only, against PyTorch at the same
# thread count, for images in the faster of its two layouts.  One is run after
# the other, REPEAT times; each prints the shortest time of its steps, and the
# medians of these and of peak memory are compared.  A line that begins with #
# has the percentage of our step, counted as direct sums, of the peak of f32
# multiply-adds in the same run.  ONLY='resnet18 train' picks
# cases; 224x4 means 4 pairs of 224 pixels instead of 32 of 32.
#
# One thread is measured by the time of its processor, two by the clock.  Each
# side waits as it does by default: our threads sleep, PyTorch's spin for a while.
# So compare two threads on a quiet machine only.
#
# PyTorch is that of the system and that of Debian 13, if scripts/debian13 has made
# one in CHROOT with torch; the faster counts, and its version and BLAS are printed.
# Each also runs with huge pages, which ours requests itself.  The reference BLAS that comes without recommended packages is many
# times slower:
#   chroot /var/tmp/foil-debian13 apt-get install python3-torch \
#       python3-torchvision libopenblas0
set -eu
here=$(dirname "$0")
bench=${BENCH:-build/release/tests/bench}
repeat=${REPEAT:-3}
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

# compare NAME UNIT OURS PEER [WHO]
compare() {
    printf 'bench %s ours %s %s peer %s ratio %s%s\n' "$1" "$3" "$2" "$4" \
        "$(ratio 2 "$4" "$3")" "${5:+ $5}"
}

# A PyTorch that does not find its processor in /proc is slower.
newer=${CHROOT:-/var/tmp/foil-debian13}
packages=$newer/usr/lib/python3/dist-packages
if [[ -e $packages/torch/__init__.py && -e $packages/torchvision ]]; then
    mount -t proc proc "$newer/proc"
    trap 'umount "$newer/proc"' EXIT
else
    newer=
fi

# add_peers SCRIPT ARG... : to peers, commands for each PyTorch there is
add_peers() {
    local pages
    [[ ! $newer ]] || cp "$here/$1" "$newer/tmp"
    for pages in 0 1; do
        pages="env GLIBC_TUNABLES=glibc.malloc.hugetlb=$pages"
        peers+=("$pages $python $here/$*")
        [[ ! $newer ]] ||
            peers+=("$pages chroot $newer /usr/bin/python3 /tmp/$*")
    done
}

# measure NAME OURS PEER... : commands; the fastest peer counts
measure() {
    local name=$1 peer='' best='' runs i k
    shift
    runs=("${@//*/}")
    for ((i = 0; i < repeat; i++)); do
        for ((k = 1; k <= $#; k++)); do
            # shellcheck disable=SC2086
            runs[k - 1]+=$(${!k})$'\n'
        done
    done
    for ((k = 1; k < $#; k++)); do
        i=$(median 1 <<<"${runs[k]%$'\n'}")
        if [[ ! $peer ]] || awk "BEGIN { exit !($i < $best) }"; then
            peer=${runs[k]} best=$i
        fi
    done
    compare "$name" ms "$(median 1 <<<"${runs[0]%$'\n'}")" "$best" \
        "$(awk '{ print $3; exit }' <<<"$peer")"
    i=$(median 3 <<<"${runs[0]%$'\n'}")
    [[ ! $i ]] || echo "# $name share $i % of the peak in f32"
    compare "$name-memory" MB "$(median 2 <<<"${runs[0]%$'\n'}")" \
        "$(median 2 <<<"${peer%$'\n'}")"
}

wants step torchvision
for case in 'resnet18 train f32 1 5' 'resnet18 train f32 2 5' \
    'resnet18 train bf16 1 5' 'resnet18 train bf16 2 5' \
    'resnet20 train f32 1 15 32x64' 'resnet20 train f32 2 15 32x64' \
    'resnet20 train bf16 1 15 32x64' 'resnet20 train bf16 2 15 32x64' \
    'resnet18 features f32 1 7' 'resnet18 features f32 2 7' \
    'resnet50 train f32 1 2 224x4' 'resnet50 train f32 2 2 224x4' \
    'resnet50 train bf16 1 2 224x4' 'resnet50 train bf16 2 2 224x4' \
    'vit:128x6x4 train f32 1 7' 'vit:192x12x16 train f32 1 5 224x4' \
    'vit:192x12x16 train f32 2 5 224x4' 'vit:192x12x16 train bf16 1 5 224x4'; do
    read -r arch mode precision threads _ size <<<"$case"
    case=${case% "$size"}
    if [[ ! ${ONLY:-} || "$arch $mode $precision $threads $size" =~ $ONLY ]]; then
        case=${size:+--size=$size }$case
        peers=()
        add_peers step_peer.py "$case" plain
        add_peers step_peer.py "$case" channels_last
        measure "$arch-$mode-$precision-${threads}T${size:+-$size}" \
            "$bench/bench_step $case" "${peers[@]}"
    fi
done
for case in 'bow:128 train f32 128 1 50' 'clip:128x2 train f32 128 1 25' \
    'clip:128x2 train f32 128 2 25' 'clip:256x4 train f32 128 1 7' \
    'clip:256x4 train bf16 128 1 7' \
    'clip:512x12 features f32 16 1 7' 'distilbert features f32 16 1 7'; do
    read -r arch mode precision rows threads _ <<<"$case"
    if [[ ! ${ONLY:-} || "$arch $mode $precision $rows $threads" =~ $ONLY ]]; then
        measure "$arch-$mode-$precision-${rows}-${threads}T" \
            "$bench/bench_text $case" "$python $here/text_peer.py $case"
    fi
done
