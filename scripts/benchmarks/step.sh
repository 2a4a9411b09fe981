#!/usr/bin/env bash
# step.sh: a training step, and features only, against PyTorch at the same
# thread count in the faster of its two layouts.  One is run after the other,
# REPEAT times; each says the shortest time of its steps, and the medians of
# these and of peak memory are compared.  ONLY='resnet18 train' picks cases.
set -eu
here=$(dirname "$0")
bench=${BENCH:-build/release/tests/bench}
python=/usr/bin/python3
repeat=${REPEAT:-3}
# Both sides wait asleep, so that what else runs here disturbs either less.
export GOMP_SPINCOUNT=0

# median COLUMN of the lines on stdin
median() {
    awk -v at="$1" '{ print $at }' | sort -n |
        awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

# compare NAME UNIT OURS PEER
compare() {
    printf 'bench %s ours %s %s peer %s ratio %s\n' "$1" "$3" "$2" "$4" \
        "$(awk "BEGIN { printf \"%.2f\", $4 / $3 }")"
}

if ! "$python" -c 'import torchvision' 2>/dev/null; then
    echo 'bench step skipped: no python3-torch'
    exit
fi
for case in 'resnet18 train f32 1 5' 'resnet18 train f32 2 5' \
    'resnet20 train f32 1 25' 'resnet20 train f32 2 25' \
    'resnet20 train bf16 1 25' 'resnet20 train bf16 2 25' \
    'resnet18 features f32 1 7' 'resnet18 features f32 2 7'; do
    read -r arch mode precision threads steps <<<"$case"
    if [[ ${ONLY:-} && ! "$arch $mode $precision $threads" =~ $ONLY ]]; then
        continue
    fi
    ours='' plain='' last=''
    for ((i = 0; i < repeat; i++)); do
        args=("$arch" "$mode" "$precision" "$threads" "$steps")
        ours+=$("$bench/bench_step" "${args[@]}")$'\n'
        plain+=$("$python" "$here/step_peer.py" "${args[@]}" plain)$'\n'
        last+=$("$python" "$here/step_peer.py" "${args[@]}" \
            channels_last)$'\n'
    done
    a=$(median 1 <<<"${plain%$'\n'}") b=$(median 1 <<<"${last%$'\n'}")
    peer=$plain
    if awk "BEGIN { exit !($b < $a) }"; then
        peer=$last
    fi
    name=$arch-$mode-$precision-${threads}T
    compare "$name" ms "$(median 1 <<<"${ours%$'\n'}")" \
        "$(median 1 <<<"${peer%$'\n'}")"
    compare "$name-memory" MB "$(median 2 <<<"${ours%$'\n'}")" \
        "$(median 2 <<<"${peer%$'\n'}")"
done
