#!/usr/bin/env bash
# accuracy.sh: minutes of training on CIFAR-10 until the nearest neighbour is
# right for NEAR [.59] and a linear probe for PROBE [.65] of the test images, by
# `foil run RECIPE` [cifar, or fast] and by the same run in PyTorch on DataLoader and
# torchvision: encoder, head, objective, bf16, optimiser, schedule, batch,
# augmentation, EPOCHS [1] and THREADS [all cores] are the same; DataLoader has as
# many more processes.  The filters of the first layer are trained, with fast, too.
#
# Each epoch saves its weights, and foil-eval evaluates the features of both, from
# the last epoch backwards: a measure is reached at the first epoch after which it
# stays above.  The evaluation is not counted.  The learning rate falls to 0 over
# all epochs, so minutes belong to that number of epochs: README has 22.  Processor
# minutes are those of all processes up to there.
#
# WORK is a folder for both runs; a complete run there is not repeated, so the two
# may be made separately: ONLY=foil or ONLY=torch.  PyTorch's, which takes hours,
# continues from its last epoch.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${BIN:-build/release/bin}" && pwd)
export PATH=$bin:$PATH
export PYTHONPATH=$here/../../pipelines/python
epochs=${EPOCHS:-1} threads=${THREADS:-$(nproc)} recipe=${RECIPE:-cifar} seed=${SEED:-1}
case $recipe in
cifar) batch=128 own= ;;
fast) batch=64 own='--arch ,basis=' ;;
*) echo "accuracy.sh: RECIPE can be cifar or fast, not '$recipe'" >&2 && exit 2 ;;
esac
# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"

wants accuracy torchvision numpy
wants_data accuracy
if [[ -n ${WORK-} ]]; then
    mkdir -p "$WORK"
    work=$(cd "$WORK" && pwd)
else
    scratch
fi

# set_of NAME TAR : its index, or that of the first IMAGES of it
set_of() {
    [[ ! -e $work/$1.foil ]] || return 0
    foil-data index -o "$work/all.foil" "$2" 2>"$work/log"
    if [[ -n ${IMAGES-} ]]; then
        foil-data split -n "$IMAGES" "$work/all.foil" "$work/$1.foil" /dev/null
        rm "$work/all.foil"
    else
        mv "$work/all.foil" "$work/$1.foil"
    fi
}

# train_foil STEPS : of an epoch; leaves lines `EPOCH SECONDS PROCESSOR` in times
train_foil() {
    local TIMEFORMAT='%U %S' run=$work/foil
    rm -rf "$run"
    foil run "$recipe" --stages -r "$run" --epochs "$epochs" --batch "$batch" \
        --threads "$threads" --seed "$seed" --select '--remainder drop' \
        --train "--checkpoint-every $1 --keep $((epochs + 1)) $own" \
        "$work/train.foil" "$work/test.foil" >"$work/stages"
    { time foil-run -r "$run" <"$work/stages" 2>"$work/foil.log"; } \
        2>"$work/processor"
    jq -r --argjson every "$1" --argjson all "$epochs" \
        --argjson used "$(awk '{ print $1 + $2 }' "$work/processor")" -s '
        (.[0].time - .[0].seconds - .[0].waited) as $zero | .[] |
        select(.total % $every == 0) | (.total / $every) as $epoch |
        "\($epoch) \(.time - $zero) \($used * $epoch / $all)"' \
        "$run/metrics.jsonl" >"$work/foil.times"
}

# train_torch : the same
train_torch() {
    mkdir -p "$work/torch"
    peer train "$recipe" "$epochs" "$batch" "$threads" "$seed" >"$work/torch.times"
}

# peer MODE ARG... : accuracy_peer.py on our data and folder
peer() {
    "$python" "$here/accuracy_peer.py" "$1" "$work" "${@:2}"
}

# features_foil EPOCH STEPS, features_torch EPOCH : of both sets, in $work/embedded
features_foil() {
    local name
    for name in train test; do
        foil-embed --size 32 -o "$work/embedded/$name.npy" --threads "$threads" \
            "$work/foil/step-$(printf %08d $(($1 * $2)))" "$work/$name.foil" \
            2>"$work/log"
    done
}

features_torch() {
    peer features "$recipe" "$1" "$threads"
}

# right MEASURE : the share that it gets right in $work/embedded
right() {
    foil-eval "$@" --threads "$threads" --json --no-record \
        "$work"/embedded/{train,test}.npy 2>"$work/log" | jq .accuracy
}

# judge SIDE STEPS : lines `EPOCH NEAREST PROBE` in SIDE.right, the last first,
# as far back as either stays
judge() {
    local epoch near probe
    mkdir -p "$work/embedded"
    for ((epoch = epochs; epoch > 0; epoch--)); do
        "features_$1" "$epoch" "$2"
        near=$(right knn -k 1) probe=$(right probe)
        echo "$epoch $near $probe"
        if awk "BEGIN { exit !($near < ${NEAR:-.59} && $probe < ${PROBE:-.65}) }"; then
            break
        fi
    done >"$work/$1.right"
}

# reached SIDE COLUMN SHARE : the minutes; nothing where it is not reached
reached() {
    awk -v at="$2" -v want="$3" '
        NR == FNR { if ($at < want) over = 1; if (!over) epoch = $1; next }
        $1 == epoch { found = sprintf("%.1f %.1f", $2 / 60, $3 / 60) }
        END { print found }' "$work/$1.right" "$work/$1.times"
}

set_of train "$data/cifar10-train.tar"
set_of test "$data/cifar10-test.tar"
steps=$((${IMAGES:-50000} / batch))
for side in foil torch; do
    [[ ${ONLY:-$side} == "$side" ]] || continue
    [[ $(wc -l 2>/dev/null <"$work/$side.times") == "$epochs" ]] ||
        "train_$side" "$steps"
    [[ -s $work/$side.right ]] || judge "$side" "$steps"
    read -r _ near probe <"$work/$side.right"
    tail -n 1 "$work/$side.times" | awk -v side="$side" -v near="$near" \
        -v probe="$probe" '{ printf "# accuracy %s: epoch %d, %.1f min, %.1f \
processor min, 1-NN %s, probe %s\n", side, $1, $2 / 60, $3 / 60, near, probe }'
done
[[ -z ${ONLY-} ]] || exit 0

processor=('' -processor)
# line NAME COLUMN SHARE : minutes, then processor minutes
line() {
    local ours peer missed='' i
    read -ra ours <<<"$(reached foil "$2" "$3")"
    read -ra peer <<<"$(reached torch "$2" "$3")"
    [[ ${ours[*]} ]] || missed=foil
    [[ ${peer[*]} ]] || missed=${missed:+foil and }PyTorch
    if [[ $missed ]]; then
        echo "bench accuracy-$1: $missed did not reach it with EPOCHS=$epochs"
        return
    fi
    for i in 0 1; do
        printf 'bench accuracy-%s ours %s min peer %s ratio %s\n' \
            "$1${processor[i]}" "${ours[i]}" "${peer[i]}" \
            "$(ratio 2 "${peer[i]}" "${ours[i]}")"
    done
}

line "nearest-${NEAR:-.59}" 2 "${NEAR:-.59}"
line "probe-${PROBE:-.65}" 3 "${PROBE:-.65}"
