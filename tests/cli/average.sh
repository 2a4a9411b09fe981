#!/usr/bin/env bash
# The mean of the weights over the last part of a run: foil-train writes it, foil-eval
# and foil-embed use it.
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

# counted RUN : how many steps the mean covers, the first number of its file
counted() {
    local file=$1/latest/average.safetensors start
    start=$((8 + $(od -An -td8 -N8 "$file")))
    od -An -td8 -j "$start" -N8 "$file" | xargs
}

# loss RUN [OPTION] : the output of foil-eval loss, also in RUN.line
loss() {
    "$BIN/foil-eval" loss --threads 1 "${@:2}" "$1" set.tar >"$1.line" &&
        cat "$1.line"
}

# value NAME RUN
value() {
    jq "$1" "$2.line"
}

ok 'a run without --average-last succeeds' trained plain
ok 'a run without --average-last writes no average.safetensors' \
    test ! -e plain/latest/average.safetensors
ok 'a run with --average-last 0.6 succeeds' trained mean --average-last 0.6
ok '--average-last does not change the weights' \
    cmp plain/latest/model.safetensors mean/latest/model.safetensors
ok '--average-last 0.6 of 4 steps covers three steps' test "$(counted mean)" -eq 3
ok 'a run with --average-last stops after the first step of the mean' \
    trained parts --average-last 0.6 --steps 2
ok 'the mean of the stopped run covers one step' test "$(counted parts)" -eq 1
ok 'the stopped run resumes without the option --average-last' trained parts --resume
ok 'the resumed run gives the bits of the uninterrupted run' \
    diff -r mean/latest/ parts/latest/
ok '--resume with another share exits with 1' \
    refuses 1 '--average-last is 0.5, but 0.6 in the checkpoint' \
    "$BIN/foil-train" -r parts --resume --average-last 0.5
ok '--average-last above 1 exits with 2' refuses 2 "--average-last '1.5'" \
    "$BIN/foil-train" -r x --average-last 1.5

ok 'foil-eval loss measures the last weights' loss mean
last=$(value .loss mean)
ok 'foil-eval loss of the last weights prints no .encoder.average' \
    test "$(value .encoder.average mean)" = null
ok 'foil-eval loss --average measures the mean' loss mean --average
ok 'the loss of the mean differs from that of the last weights' \
    holds "($(value .loss mean) - $last) ^ 2 > 1e-8"
ok 'foil-eval loss --average prints how many steps the mean covers' \
    test "$(value .encoder.average mean)" -eq 3
ok 'a run with learning rate 0 and --average-last 1 succeeds' \
    trained still --lr 0 --average-last 1
ok 'foil-eval loss measures the run with learning rate 0' loss still
last=$(value .loss still)
ok 'foil-eval loss --average measures the run with learning rate 0' loss still --average
ok 'with learning rate 0 the mean has the loss of the last weights' \
    holds "($(value .loss still) - $last) ^ 2 < 1e-12"
ok 'foil-eval loss --average without a mean exits with 1' \
    refuses 1 'has no mean of weights' \
    "$BIN/foil-eval" loss --average plain set.tar

# a linear encoder: its features by the mean of weights over the last four steps are the
# mean of the features of each step
embed=$BIN/foil-embed
ok 'a run keeps the checkpoint of every step' \
    trained each --average-last 1 --checkpoint-every 1 \
    --keep 9
for step in 1 2 3 4; do
    "$embed" -o "step$step.csv" "each/step-0000000$step" set.tar
done
ok 'foil-embed --average computes features by the mean of weights' \
    "$embed" --average -o mean.csv each set.tar
ok 'linear encoder: they are the mean of the features of each step' bash -c "
    paste -d , mean.csv step[1-4].csv | tail -n +2 | awk -F , '
        { n = NF / 5
          for (i = 4; i <= n; i++) {
              m = (\$(i + n) + \$(i + 2 * n) + \$(i + 3 * n) + \$(i + 4 * n)) / 4
              if ((\$i - m) ^ 2 > 1e-8 || \$i == \$(i + 4 * n)) bad = 1
              count++
          } }
        END { print count; exit bad || count != 24 * 6 }'"
ok 'foil-embed --average writes the number of steps to the .json' \
    bash -c "'$embed' --average -o mean.npy each \
    set.tar && jq -e '.encoder.average == 4' mean.json"
ok 'foil-embed --average --export writes the mean of weights' \
    "$embed" --average --export mean.file each
ok 'the exported file has the number of steps in its header' \
    grep -aq '"average":"4"' mean.file
ok 'the exported mean has other weights than the last step' \
    bash -c "'$embed' --export last.file each &&
    ! cmp -s <(tail -c 100 mean.file) <(tail -c 100 last.file)"
ok 'foil-embed --average without a mean exits with 1' \
    refuses 1 "'.*plain.*' has no mean of weights" \
    "$embed" --average -o x.npy plain set.tar
ok 'a checkpoint is copied to a name that is not UTF-8' cp -rL plain/latest $'pl\xffain'
ok 'the error prints a file name that is not UTF-8' refuses 1 "^foil-embed: 'pl" \
    env LC_ALL=C "$embed" --average -o x.npy $'pl\xffain' set.tar
ok 'foil-embed --average --untrained exits with 2' \
    refuses 2 '--average is for the weights of' \
    "$embed" --average --untrained -o x.npy each set.tar
done_testing
