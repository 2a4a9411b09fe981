#!/usr/bin/env bash
# foil-encoder(5): a program in NumPy that computes row sums trains as by its embeddings;
# a run that is killed three times and resumed has the result of an undisturbed one.
# Mostly waits
# Not for sanitizers: kills are in faults.sh, its stages in encoder.sh.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export PATH=$BIN:$PATH OMP_NUM_THREADS=1
program="/usr/bin/python3 '$(cd "${0%/*}" && pwd)/row_sums.py'"
if ! has_python numpy; then
    skip 'an encoder in NumPy' 'no python3-numpy'
    done_testing
fi
cd "$work" || exit
data=$work/data.tar
foil-data generate --size 8 -o "$data" 64 2>/dev/null
foil-data index "$data" 2>/dev/null
augment_with=(--size 8)
select_with=(--batch 16 --epochs 20)
train_with=(--lr 0.05 --warmup 0 --checkpoint-every 10)

for objective in simclr isogclr sogclr_bimodal; do
    ok "$objective: a program trains by embeddings" trained "$objective-rows" \
        --encoder "$program" --objective "$objective" --steps 8
    ok "$objective: it trains by row sums" trained "$objective-sums" \
        --encoder "$program sums" --objective "$objective" --steps 8
    ok "$objective: the metrics are the same" \
        same_metrics "$objective-rows" "$objective-sums"
done
ok 'hcl, which needs more than row sums, trains by embeddings' trained hcl \
    --encoder "$program sums" --objective hcl --steps 8
ok 'an undisturbed run succeeds' \
    trained calm --encoder "$program sums" --objective isogclr
ok 'a run with three kills of the trainer succeeds' \
    trained_killed killed "13 34 55 80" --encoder "$program sums" --objective isogclr
ok 'the killed run has each step once, with the same metrics' \
    diff <(timeless calm) <(timeless killed)
ok 'the killed run has the same checkpoint, to the byte' diff -r calm/latest/ killed/latest/
# same_result A B : to the byte
same_result() {
    diff <(timeless "$1") <(timeless "$2") &&
        diff -r -x config.json -x MANIFEST.json "$1/latest/" "$2/latest/"
}
late() {
    trained late --encoder "$program sums late" --objective isogclr 2>late.err
}
ok 'a program that updates before it answers the norm succeeds' late
ok 'it had begun the next forward at a checkpoint, and undone it' \
    grep -qE 'encoder: [1-9][0-9]* undone' late.err
ok 'its result is the same, to the byte' same_result calm late
ok 'three kills of the trainer of such a program succeed' trained_killed late-killed \
    "13 34 55 80" --encoder "$program sums late" --objective isogclr
ok 'the killed run has the same result, to the byte' same_result calm late-killed
for late in '' late; do
    ok "a step that is not finite is skipped ($late)" trained "nan-$late" --encoder \
        "$program sums $late nan" --objective isogclr --nonfinite skip
done
ok 'a step that is not finite changes the same, to the byte' same_result nan- nan-late
ok 'it is in nonfinite.jsonl' test "$(wc -l <nan-late/nonfinite.jsonl)" = 1
ok 'a run by row sums does not resume by embeddings' refuses 1 'the table differs' \
    trained calm --encoder "$program" --objective isogclr --resume --override encoder
done_testing
