#!/usr/bin/env bash
# The pipelines in foil-run(1), taken from its text: a loop of trainings is stopped and
# resumed to the same bits, and a study prints its table.
# Not for sanitizers: other tests cover their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
root=$(cd "${0%/*}/../.." && pwd)
export OMP_NUM_THREADS=1 PATH=$BIN:$PATH
cd "$work" || exit
awk '/^\.Bd -literal/ { n++; inside = 1; next } /^\.Ed/ { inside = 0 }
    inside { gsub(/\\e/, "\\"); print > ("block." n) }' "$root/tools/foil-run.1"
# example COMMENT NAME : writes the block with that comment as an executable
example() {
    cp "$(grep -lxF "# $1" block.*)" "$2" && chmod 755 "$2"
}
ok 'foil-run(1) shows simclr' \
    example 'SimCLR: the negatives of an image are the other images of its batch.' simclr
ok 'simclr of foil-run(1) is that of the pipelines' cmp simclr "$root/pipelines/simclr"
ok 'foil-run(1) shows a loop of trainings' \
    example 'SimCLR at several temperatures.' temperatures
ok 'foil-run(1) shows a study' example 'Study: SimCLR and EMC2 at equal epochs.' study

for set in photos held-out; do
    foil-data generate --size 8 -s "${#set}" -o "$set.tar" 64 2>/dev/null
done
small=(--batch 8 --size 8 --arch linear --head 16-9 --threads 1 --augmenters 1)
loop=(photos.tar held-out.tar "${small[@]}" --epochs 10 --taus '0.1,0.5')
ok 'the loop runs by its first line' ./temperatures "${loop[@]}" -r whole
ok 'the loop compares its runs' grep -q '"run":"whole/0.5".*"probe' "$work/out"
ok 'the loop trains each run to its end' \
    test "$(steps whole/0.1) $(steps whole/0.5)" = '80 80'

stopped() {
    foil run ./temperatures "${loop[@]}" -r cut 2>messages &
    local pid=$!
    becomes_true has_steps cut/0.5 20 || return
    kill -TERM "$pid"
    wait "$pid"
}
ok 'SIGTERM in the second training exits with 143' exits 143 stopped
ok 'the stopped training has a checkpoint' test -s cut/0.5/latest/model.safetensors
ok 'the stopped training is not evaluated' test ! -e cut/0.5/results.jsonl
ok 'the stopped loop prints how to resume it' \
    grep -qF "'foil run --resume -r cut' continues" messages
ok 'the loop resumes' foil run --resume -r cut
ok 'the resumed loop compares its runs' grep -q '"run":"cut/0.5".*"probe' "$work/out"
ok 'the resumed loop has the same bits' diff -r whole/0.5/latest/ cut/0.5/latest/
ok 'the resumed loop has the same metrics' diff <(timeless whole/0.5) <(timeless cut/0.5)
ok 'the loop without TEST succeeds' ./temperatures photos.tar "${small[@]}" \
    --epochs 1 --taus 0.2 -r plain
ok 'the loop without TEST trains and does not evaluate' \
    test "$(steps plain/0.2)" -eq 8 -a ! -e plain/0.2/results.jsonl

ok 'the study succeeds' ./study photos.tar held-out.tar "${small[@]}" --epochs 1 --seeds 2
ok 'the study prints its table' grep -q '^no verdict: 2 seeds, and at least 5' "$work/out"
done_testing
