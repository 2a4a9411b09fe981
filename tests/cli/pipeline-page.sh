#!/usr/bin/env bash
# The loop of trainings in foil-run(1), from the text of the page: it is stopped in the
# middle, goes on, and ends with the table that an undisturbed one has.
# Not for sanitizers: pipelines, their stages are in others.
# Mostly waits, 10 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
page=$(cd "${0%/*}/../../tools" && pwd)/foil-run.1
export OMP_NUM_THREADS=1 PATH=$BIN:$PATH
cd "$work" || exit
for set in train test; do
    foil-data generate --size 8 -s "${#set}" -o "$set.tar" 64 2>/dev/null
done
sed -n '/^# Temperatures/,/^\.Ed/p' "$page" | sed '$d; 1i #!/usr/bin/env foil-run' >temperatures
chmod 755 temperatures
ok 'the page has a script' shellcheck -s sh temperatures

# with a small encoder
small=(--taus '0.1,0.5' --epochs 30 --batch 8 --threads 1 --augment '--size 8'
    --train '--arch linear --head 16-9')
ok 'it trains by each temperature' ./temperatures train.tar test.tar -r calm "${small[@]}"
ok 'and says the best' grep -qE '^the best probe has an accuracy of 0?\.[0-9]+' "$work/out"

midway() {
    test -e cut/0.1/result && test -s cut/0.5/metrics.jsonl
}
stopped() {
    ./temperatures train.tar test.tar -r cut "${small[@]}" 2>stop.said &
    local pid=$! code=0
    becomes_true midway || return
    kill -TERM "$pid"
    wait "$pid" || code=$?
    cat stop.said
    test "$code" -eq 143
}
ok 'SIGTERM in the second training: 143' stopped
ok 'and how to go on' grep -qxF \
    "foil run ./temperatures: stopped; 'foil run --resume -r cut' goes on" stop.said
ok 'it goes on' foil run --resume -r cut
ok 'the first one is not trained again' exits 1 grep -q "tau 0.1" out
ok 'with the same results' diff <(grep -v seconds calm/all) <(grep -v seconds cut/all)
ok 'and the same bits' eval 'diff -r calm/0.1/latest/ cut/0.1/latest/ &&
    diff -r calm/0.5/latest/ cut/0.5/latest/'
done_testing
