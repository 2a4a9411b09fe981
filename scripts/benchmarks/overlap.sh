#!/usr/bin/env bash
# overlap.sh: an epoch with batches planned from features, against a
# shuffled one, with the whole dataflow on the same cores: with a free core,
# and with a trainer that uses all.  One is run after the other,
# REPEAT times; each prints the median of its epochs without the first three.
# A timeline of the last run with a core to spare goes to OUT [build/overlap],
# as timeline.png with its gnuplot script.
set -eu
bin=${BIN:-build/release/bin}
out=${OUT:-build/overlap}
repeat=${REPEAT:-3} strategy=${STRATEGY:-spectral}
images=${IMAGES:-5120} epochs=${EPOCHS:-8}
cores=$(nproc)
export GOMP_SPINCOUNT=0
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"
scratch

# epoch STRATEGY THREADS : seconds of an epoch; the run stays in $work/run
epoch() {
    local keep=()
    [[ $1 == shuffle ]] || keep=(--keep-features 2)
    rm -rf "$work/run"
    "$bin/foil-train" -r "$work/run" --arch resnet8 --head 128-128 \
        --objective simclr,tau=0.5 --lr 0.06 --threads "$2" \
        ${keep[@]+"${keep[@]}"} 2>>"$work/log" &
    "$bin/foil-augment" -r "$work/run" --size 32 "$work/set.tar" \
        2>>"$work/log" &
    "$bin/foil-select" -r "$work/run" --strategy "$1,tau=0.5" -b 32 \
        -e "$epochs" "$work/set.tar" 2>>"$work/log" &
    wait
    jq -s 'map(select(.step == 0).time) | .[3:] as $t |
        [range(1; $t | length) | $t[.] - $t[. - 1]][]' \
        "$work/run/metrics.jsonl" | median 1
}

# timeline : of $work/run
timeline() {
    mkdir -p "$out"
    jq -rs '(.[0].time - .[0].seconds) as $zero | .[] |
        "\(.time - .seconds - $zero) \(.time - $zero) \(.epoch)"' \
        "$work/run/metrics.jsonl" >"$out/steps.dat"
    jq -rs '(.[0].time - .[0].seconds) as $zero |
        map(select(.plan.from))[] |
        (.plan.time - $zero) as $at |
        "\($at) \($at + .plan.seconds) \(.epoch) \($at - .plan.waited)"' \
        "$work/run/metrics.jsonl" >"$out/plans.dat"
    cat >"$out/timeline.gp" <<'END'
# gnuplot timeline.gp draws timeline.png from steps.dat (begin, end, epoch) and
# plans.dat (begin, end, epoch, when features were asked for).
set terminal pngcairo size 1200,320
set output "timeline.png"
set title "epochs that are trained, and plans made meanwhile"
set xlabel "seconds"
set yrange [0.4:2.6]
set ytics ("foil-select" 1, "foil-train" 2)
set cbrange [0:*]
set cblabel "epoch"
set palette maxcolors 12
set style fill solid noborder
set grid x
set key below
plot "steps.dat" using 1:(2):1:2:(1.7):(2.3):3 with boxxyerror \
         linecolor palette notitle, \
     "plans.dat" using 1:(1):4:1:(0.9):(1.1) with boxxyerror \
         linecolor "gray" title "features come", \
     "plans.dat" using 1:(1):1:2:(0.7):(1.3):3 with boxxyerror \
         linecolor palette title "a plan is made, for the epoch of its colour"
END
    if command -v gnuplot >/dev/null; then
        (cd "$out" && gnuplot timeline.gp)
    fi
}

"$bin/foil-data" generate --size 32 -o "$work/set.tar" "$images" 2>/dev/null
"$bin/foil-data" index "$work/set.tar" 2>/dev/null
for threads in $((cores > 1 ? cores - 1 : 1)) "$cores"; do
    plain='' planned=''
    for ((i = 0; i < repeat; i++)); do
        plain+=$(epoch shuffle "$threads")$'\n'
        planned+=$(epoch "$strategy" "$threads")$'\n'
    done
    [[ $threads -eq $cores ]] || timeline
    plain=$(printf %s "$plain" | median 1)
    planned=$(printf %s "$planned" | median 1)
    printf 'bench overlap-%s-%sT ours %s s peer %s ratio %s (plan %s s)\n' \
        "$strategy" "$threads" "$planned" "$plain" \
        "$(ratio 3 "$planned" "$plain")" \
        "$(jq -s 'map(select(.plan.from).plan.seconds) | max' \
            "$work/run/metrics.jsonl")"
done
