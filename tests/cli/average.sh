#!/usr/bin/env bash
# The mean of the weights over the last part of a run: kept by foil-train,
# measured by foil-eval.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
cd "$work" || exit 1

"$BIN/foil-data" generate -o set.tar --size 16 24 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null

data=set.tar # runs of four steps in two epochs
augment_with=(--size 16) select_with=(--batch 12 --epochs 2)
train_with=(--arch linear,hidden=6 --head none)

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
ok 'a run with a mean' trained mean --average-last 0.6
ok 'ends in the same weights' \
    cmp plain/latest/model.safetensors mean/latest/model.safetensors
ok 'of the last .6 of 4 steps three count' test "$(counted mean)" -eq 3
ok 'one stops behind the first of them' trained parts --average-last 0.6 --steps 2
ok 'whose mean is of one step' test "$(counted parts)" -eq 1
ok 'and goes on' trained parts --resume
ok 'to the same bits' diff -r mean/latest/ parts/latest/
ok 'another share: 1' refuses 1 '--average-last is 0.5, but 0.6 in the checkpoint' \
    "$BIN/foil-train" -r parts --resume --average-last 0.5
ok 'more than all: 2' refuses 2 "--average-last '1.5'" \
    "$BIN/foil-train" -r x --average-last 1.5

ok 'the loss of the last weights' loss mean
last=$(value .loss mean)
ok 'says nothing of a mean' test "$(value .encoder.average mean)" = null
ok 'that of the mean' loss mean --average
ok 'is another' holds "($(value .loss mean) - $last) ^ 2 > 1e-8"
ok 'and says of how many steps' test "$(value .encoder.average mean)" -eq 3
ok 'a run that stands still' trained still --lr 0 --average-last 1
ok 'its loss' loss still
last=$(value .loss still)
ok 'that of its mean' loss still --average
ok 'is the same' holds "($(value .loss still) - $last) ^ 2 < 1e-12"
ok 'a checkpoint without a mean: 1' refuses 1 'has no mean of weights' \
    "$BIN/foil-eval" loss --average plain set.tar

# features by the mean, of a linear encoder: of the last four steps they are the
# mean of those of each step
embed=$BIN/foil-embed
ok 'every step of a run is kept' trained each --average-last 1 --checkpoint-every 1 \
    --keep 9
for step in 1 2 3 4; do
    "$embed" -o "step$step.csv" "each/step-0000000$step" set.tar
done
ok 'features by the mean of weights' "$embed" --average -o mean.csv each set.tar
ok 'are, of a linear encoder, the mean of those of its steps' bash -c "
    paste -d , mean.csv step[1-4].csv | tail -n +2 | awk -F , '
        { n = NF / 5
          for (i = 4; i <= n; i++) {
              m = (\$(i + n) + \$(i + 2 * n) + \$(i + 3 * n) + \$(i + 4 * n)) / 4
              if ((\$i - m) ^ 2 > 1e-8 || \$i == \$(i + 4 * n)) bad = 1
              count++
          } }
        END { print count; exit bad || count != 24 * 6 }'"
ok 'with the steps beside them' bash -c "'$embed' --average -o mean.npy each \
    set.tar && jq -e '.encoder.average == 4' mean.json"
ok 'the encoder by itself' "$embed" --average --export mean.file each
ok 'has them, too' grep -aq '"average":"4"' mean.file
ok 'and other weights than the last' bash -c "'$embed' --export last.file each &&
    ! cmp -s <(tail -c 100 mean.file) <(tail -c 100 last.file)"
ok 'no mean: 1' refuses 1 "'.*plain.*' has no mean of weights" \
    "$embed" --average -o x.npy plain set.tar
ok 'a copy whose name is no UTF-8' cp -rL plain/latest $'pl\xffain'
ok 'is named, too' refuses 1 "^foil-embed: 'pl" \
    env LC_ALL=C "$embed" --average -o x.npy $'pl\xffain' set.tar
ok 'no weights of a checkpoint: 2' refuses 2 '--average is for the weights of' \
    "$embed" --average --untrained -o x.npy each set.tar
done_testing
