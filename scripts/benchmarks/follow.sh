#!/usr/bin/env bash
# follow.sh: training with foil-eval follow beside it, which judges every
# epoch's checkpoint at the lowest priority, against training alone: one after
# the other, REPEAT times, with a trainer that takes all cores.  Seconds are
# those from the first step to the last; the median of all repeats counts.
set -eu
bin=${BIN:-build/release/bin}
repeat=${REPEAT:-3} images=${IMAGES:-5120} tests=${TESTS:-1024}
epochs=${EPOCHS:-6} batch=${BATCH:-128}
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT
export GOMP_SPINCOUNT=0
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

# trained [yes] : seconds of a run, with the follower beside it or without
trained() {
    rm -rf "$work/run"
    mkdir "$work/run"
    if [[ -n ${1-} ]]; then
        "$bin/foil-eval" follow -r "$work/run" -k 1,10 "$work/set.tar" \
            "$work/test.tar" >"$work/judged" 2>>"$work/log" &
    fi
    "$bin/foil-train" -r "$work/run" --arch resnet20 --lr 0.2 \
        --checkpoint-every $((images / batch)) 2>>"$work/log" &
    "$bin/foil-augment" -r "$work/run" --size 32 "$work/set.tar" \
        2>>"$work/log" &
    "$bin/foil-select" -r "$work/run" -b "$batch" -e "$epochs" \
        "$work/set.tar" 2>>"$work/log" &
    wait
    jq -s '(.[-1].time) - (.[0].time - .[0].seconds)' "$work/run/metrics.jsonl"
}

for part in set:$images test:$tests; do
    "$bin/foil-data" generate --size 32 --seed "${#part}" \
        -o "$work/${part%:*}.tar" "${part#*:}" 2>/dev/null
    "$bin/foil-data" index "$work/${part%:*}.tar" 2>/dev/null
done
alone='' followed=''
for ((i = 0; i < repeat; i++)); do
    alone+=$(trained)$'\n'
    followed+=$(trained yes)$'\n'
done
alone=$(printf %s "$alone" | median 1)
followed=$(printf %s "$followed" | median 1)
printf 'bench follow ours %s s peer %s s ratio %s (%s checkpoints judged of %s)\n' \
    "$followed" "$alone" "$(ratio 3 "$followed" "$alone")" \
    "$(jq -s 'map(.step) | unique | length' "$work/judged")" "$epochs"
