#!/usr/bin/env bash
# A run compares its encoder with raw pixels while it trains, at a distance in epochs that
# stays when it is killed and resumed; its training has the same bits without that, and an
# evaluator that is killed is only reported.
# Not for sanitizers: a pipeline; other tests cover its stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1

"$BIN/foil-data" generate -o set.tar --size 16 64 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null

# Instead of 2 %, as much as the trainer: otherwise such a small encoder would train for
# minutes before the first comparison.
mkdir -p bin share/foil
cp "$BIN/foil" bin
cp -r "$here/../../pipelines" share/foil
for tool in data embed select augment train run runs stop top; do
    ln -s "$BIN/foil-$tool" bin
done
cat >bin/foil-eval <<END
#!/bin/bash
words=()
for word; do
    [[ \$1 != follow || \$word != 2 ]] || word=100
    words+=("\$word")
done
exec "$BIN/foil-eval" "\${words[@]}"
END
chmod 755 bin/foil-eval
PATH=$work/bin:$PATH
long=(simclr set.tar --arch resnet8 --head 16-9 --batch 16 --epochs 1000000 --augmenters 1
    --threads 1 --size 16 --checkpoint-epochs 5 --checkpoint-every 0)

# begin OPTION... : starts or continues the run `live` in the background
begin() {
    foil run "${long[@]}" -r live "$@" >live.out 2>>live.err &
    live=$!
}
line='^foil-train: epoch [0-9]+: 1-NN [0-9.]+ % \(raw pixels [0-9.]+ %, untrained [0-9.]+ %\)$'
# has_lines N : that many lines of results are printed
has_lines() {
    test "$(grep -cE "$line" live.err)" -ge "$1"
}
# lines_within FROM TO : the epochs of the lines
lines_within() {
    grep -E "$line" live.err | sed 's/.*epoch \([0-9]*\):.*/\1/' | sed -n "$1,$2p"
}
begin
ok 'a run prints its accuracy against raw pixels while it trains' becomes_true has_lines 2
ok 'RUN/compare/pace has the distance in epochs' grep -qE '^every [0-9]*[05]$' live/compare/pace
cp live/compare/pace pace
ok 'results.jsonl has the figures' jq -se 'map(select(.epoch)) | length >= 2 and
    all(.measure == "knn" and .k == 1 and .accuracy >= 0 and .pixels >= 0 and
    .untrained >= 0 and .n == 64)' live/results.jsonl
ok 'foil runs has the newest' bash -c 'foil runs live | jq -e ".results[\"knn 1\"].epoch > 0"'
ok 'foil top has its sentence' bash -c "foil top --once live |
    grep -E '^epoch [0-9]+: 1-NN .*untrained'"
ok 'another follow can evaluate the same run' timeout -k 5 "$patience" \
    "$BIN/foil-eval" follow -r live --once --eval-command \
    'while read -r line; do echo "{}"; echo ok; done'
# evaluators : the processes that evaluate the run
evaluators() {
    local follow
    for follow in $(pgrep -f '^[^ ]*/foil-eval follow -r live --share'); do
        [[ $(readlink "/proc/$follow/cwd") != "$PWD" ]] || echo "$follow"
    done
}
no_evaluators() {
    test -z "$(evaluators)"
}
kill -KILL "$live"
wait "$live" 2>/dev/null
ok 'a killed run leaves no evaluator' becomes_true no_evaluators
before=$(grep -cE "$line" live.err)
begin --resume
ok 'a resumed run prints lines' becomes_true has_lines $((before + 1))
ok 'its distance is the same' diff pace live/compare/pace
# shellcheck disable=SC2016 # of awk
ok 'its epochs are multiples of the distance' bash -c '
    every=$(sed -n "s/^every //p" pace)
    awk -v every="$every" "NR > 1 && \$1 % every { exit 1 }"' < <(lines_within 1 99)
ok 'no epoch has two lines' test -z "$(lines_within 1 99 | sort | uniq -d)"
# killed : kills the evaluator, and whether the run has reported its death
killed() {
    evaluators | xargs -r kill -KILL
    grep -q 'evaluate was killed by signal 9; the run continues without it' live.err
}
ok 'a killed evaluator is reported' becomes_true killed
steps=$(wc -l <live/metrics.jsonl)
more_steps() {
    test "$(wc -l <live/metrics.jsonl)" -gt $((steps + 20))
}
ok 'the run continues' becomes_true more_steps
ok 'the killed evaluator is reported once' test "$(grep -c 'evaluate was' live.err)" = 1
ok 'foil stop saves the run' foil stop live
wait "$live"
ok 'no line is longer than 200 characters while it trains' awk \
    'length > 200 { exit 1 }' live.err
steps=$(readlink live/latest)
ok 'a run without comparisons trains as many steps' foil run "${long[@]}" \
    -r alone --no-compare --steps "$((10#${steps#step-}))"
ok 'its weights have the same bits' cmp alone/latest/model.safetensors \
    live/latest/model.safetensors
ok 'it is not evaluated' test ! -e alone/results.jsonl -a ! -e alone/compare
done_testing
