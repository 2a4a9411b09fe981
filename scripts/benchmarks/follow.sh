#!/usr/bin/env bash
# follow.sh: training with a parallel foil-eval follow, which evaluates every
# epoch's checkpoint at the lowest priority, against training alone: one after
# the other, REPEAT times, with a trainer that uses all cores.  Seconds are
# those from the first step to the last; the shortest of all repeats counts.
# On a loaded machine these mean little: the processor seconds of the trainer,
# which follow, measure its loss by caches and preemption.
# FOLLOWER is a prefix of the follower's command, such as `chrt -i 0`.
set -eu
bin=${BIN:-build/release/bin}
repeat=${REPEAT:-3} images=${IMAGES:-5120} tests=${TESTS:-1024}
epochs=${EPOCHS:-6} batch=${BATCH:-128}
read -ra before <<<"${FOLLOWER:-}"
export GOMP_SPINCOUNT=0
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"
scratch

# trained [yes] : seconds of a run and processor seconds of its trainer, with the
# follower beside it or without
trained() {
    local TIMEFORMAT='%U %S'
    rm -rf "$work/run"
    mkdir "$work/run"
    if [[ -n ${1-} ]]; then
        "${before[@]}" "$bin/foil-eval" follow -r "$work/run" -k 1,10 \
            "$work/set.tar" "$work/test.tar" >"$work/judged" 2>>"$work/log" &
    fi
    { time "$bin/foil-train" -r "$work/run" --arch resnet20 --lr 0.2 \
        --checkpoint-every $((images / batch)) 2>>"$work/log"; } \
        2>"$work/processor" &
    "$bin/foil-augment" -r "$work/run" --size 32 "$work/set.tar" \
        2>>"$work/log" &
    "$bin/foil-select" -r "$work/run" -b "$batch" -e "$epochs" \
        "$work/set.tar" 2>>"$work/log" &
    wait
    echo "$(jq -s '(.[-1].time) - (.[0].time - .[0].seconds)' \
        "$work/run/metrics.jsonl") $(awk '{ print $1 + $2 }' "$work/processor")"
}

# least COLUMN LINES
least() {
    awk -v at="$1" '{ print $at }' <<<"$2" | sort -g | head -n 1
}

for part in set:$images test:$tests; do
    "$bin/foil-data" generate --size 32 --seed "${#part}" \
        -o "$work/${part%:*}.tar" "${part#*:}" 2>/dev/null
    "$bin/foil-data" index "$work/${part%:*}.tar" 2>/dev/null
done
alone=$(trained)
followed=$(trained yes)
for ((i = 1; i < repeat; i++)); do
    alone+=$'\n'$(trained)
    followed+=$'\n'$(trained yes)
done
judged=$(jq -s 'map(.step) | unique | length' "$work/judged")
for at in 1 2; do
    what=follow
    [[ $at -eq 1 ]] || what=follow-processor
    with=$(least "$at" "$followed") without=$(least "$at" "$alone")
    printf 'bench %s ours %s s peer %s s ratio %s (%s)\n' "$what" "$with" \
        "$without" "$(ratio 3 "$with" "$without")" \
        "$judged checkpoints judged of $epochs"
done
