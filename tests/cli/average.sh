#!/usr/bin/env bash
# The mean of the weights over the last part of a run: kept by foil-train,
# measured by foil-eval.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
cd "$work" || exit 1

"$BIN/foil-data" generate -o set.tar --size 16 24 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null

# trained DIR OPTION... : four steps in two epochs; feeders end with the trainer,
# so that the next ones find their endpoints free
trained() {
    local run=$1 code feeders
    shift
    "$BIN/foil-augment" -r "$run" --size 16 set.tar 2>"$run.augment" &
    feeders=$!
    "$BIN/foil-select" -r "$run" --batch 12 --epochs 2 set.tar 2>"$run.select" &
    feeders+=" $!"
    "$BIN/foil-train" -r "$run" --threads 1 --deadline 60 --arch linear \
        --hidden 6 --head none "$@"
    code=$?
    # shellcheck disable=SC2086 # two words
    wait $feeders
    return "$code"
}

# counted RUN : how many steps the mean is of, the first number of its file
counted() {
    local file=$1/latest/average.safetensors start
    start=$((8 + $(od -An -td8 -N8 "$file")))
    od -An -td8 -j "$start" -N8 "$file" | xargs
}

# loss RUN [OPTION] : what foil-eval says, in RUN.line
loss() {
    "$BIN/foil-eval" loss --threads 1 "${@:2}" "$1" set.tar >"$1.line" &&
        cat "$1.line"
}

# value NAME RUN
value() {
    jq "$1" "$2.line"
}

ok 'a run without' trained plain
ok 'keeps none' test ! -e plain/latest/average.safetensors
ok 'a run with a mean' trained mean --average 0.6
ok 'ends in the same weights' \
    cmp plain/latest/model.safetensors mean/latest/model.safetensors
ok 'of the last .6 of 4 steps three count' test "$(counted mean)" -eq 3
ok 'one stops behind the first of them' trained parts --average 0.6 --steps 2
ok 'whose mean is of one step' test "$(counted parts)" -eq 1
ok 'and goes on' trained parts --resume
ok 'to the same bits' diff -r mean/latest/ parts/latest/
ok 'another share: 1' refuses 1 '--average is 0.5, but 0.6 in the checkpoint' \
    "$BIN/foil-train" -r parts --resume --average 0.5
ok 'more than all: 2' refuses 2 "--average '1.5'" \
    "$BIN/foil-train" -r x --average 1.5

ok 'the loss of the last weights' loss mean
last=$(value .loss mean)
ok 'says nothing of a mean' test "$(value .encoder.average mean)" = null
ok 'that of the mean' loss mean --average
ok 'is another' holds "($(value .loss mean) - $last) ^ 2 > 1e-8"
ok 'and says of how many steps' test "$(value .encoder.average mean)" -eq 3
ok 'a run that stands still' trained still --lr 0 --average 1
ok 'its loss' loss still
last=$(value .loss still)
ok 'that of its mean' loss still --average
ok 'is the same' holds "($(value .loss still) - $last) ^ 2 < 1e-12"
ok 'a checkpoint without a mean: 1' refuses 1 'has no mean of weights' \
    "$BIN/foil-eval" loss --average plain set.tar
done_testing
