#!/usr/bin/env bash
# The pipelines that foil-run(1) shows, from its text: a loop of trainings is stopped and
# goes on to the same bits, and a study has its table.
# Not for sanitizers: their stages are in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
root=$(cd "${0%/*}/../.." && pwd)
export OMP_NUM_THREADS=1 PATH=$BIN:$PATH
cd "$work" || exit
awk '/^\.Bd -literal/ { n++; inside = 1; next } /^\.Ed/ { inside = 0 }
    inside { gsub(/\\e/, "\\"); print > ("block." n) }' "$root/tools/foil-run.1"
# example COMMENT NAME : the block with that comment, as an executable
example() {
    cp "$(grep -lxF "# $1" block.*)" "$2" && chmod 755 "$2"
}
ok 'simclr' example 'SimCLR: the negatives of an image are the other images of its batch.' simclr
ok 'is that of the pipelines' cmp simclr "$root/pipelines/simclr"
ok 'a loop' example 'SimCLR at several temperatures.' temperatures
ok 'a study' example 'Study: SimCLR and EMC2 at equal epochs.' study

for set in photos held-out; do
    foil-data generate --size 8 -s "${#set}" -o "$set.tar" 64 2>/dev/null
done
small=(--batch 8 --size 8 --arch linear --head 16-9 --threads 1 --augmenters 1)
loop=(photos.tar held-out.tar "${small[@]}" --epochs 10 --taus '0.1,0.5')
ok 'the loop runs by its first line' ./temperatures "${loop[@]}" -r whole
ok 'compares its runs' grep -q '"run":"whole/0.5".*"probe' "$work/out"
ok 'trains each to its end' test "$(steps whole/0.1) $(steps whole/0.5)" = '80 80'

stopped() {
    foil run ./temperatures "${loop[@]}" -r cut 2>said &
    local pid=$!
    becomes_true has_steps cut/0.5 20 || return
    kill -TERM "$pid"
    wait "$pid"
}
ok 'SIGTERM ends it in its second training: 143' exits 143 stopped
ok 'which is saved' test -s cut/0.5/latest/model.safetensors
ok 'and not evaluated' test ! -e cut/0.5/results.jsonl
ok 'it says how to go on' grep -qF "'foil run --resume -r cut' continues" said
ok 'and goes on' foil run --resume -r cut
ok 'compares its runs' grep -q '"run":"cut/0.5".*"probe' "$work/out"
ok 'to the same bits' diff -r whole/0.5/latest/ cut/0.5/latest/
ok 'with the same metrics' diff <(timeless whole/0.5) <(timeless cut/0.5)
ok 'without TEST nothing is evaluated' ./temperatures photos.tar "${small[@]}" \
    --epochs 1 --taus 0.2 -r plain
ok 'but trained' test "$(steps plain/0.2)" -eq 8 -a ! -e plain/0.2/results.jsonl

ok 'the study runs' ./study photos.tar held-out.tar "${small[@]}" --epochs 1 --seeds 2
ok 'and has its table' grep -q '^no verdict: 2 seeds, of 5 or more' "$work/out"
done_testing
