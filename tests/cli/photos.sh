#!/usr/bin/env bash
# Large images: the stem depends on their size, foil-train estimates memory and time
# before it uses them, and Ctrl-C during a long step is acknowledged.
# Not for sanitizers: large images, small ones are in foil-augment.sh.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

cd "$work" || exit 1
"$BIN/foil-data" generate -o set.tar --size 128 96 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
# feed RUN SIZE BATCH EPOCHS : starts its selector and its augmenter
feed() {
    "$BIN/foil-augment" -r "$1" --size "$2" set.tar 2>/dev/null &
    "$BIN/foil-select" -r "$1" --batch "$3" --epochs "$4" set.tar 2>/dev/null &
}
# stem RUN SIZE OPTION... : prints the stem of an encoder after two steps
stem() {
    local run=$1
    feed "$run" "$2" 4 1
    shift 2
    "$BIN/foil-train" -r "$run" --arch resnet8,width=8 --threads 1 --steps 2 \
        --deadline 60 "$@" 2>"$run.err"
    kill %?augment %?select 2>/dev/null
    wait
    jq -r .encoder.stem "$run/latest/config.json"
}
ok 'images of 64 pixels get a small stem' test "$(stem a 64)" = small
ok 'images of 65 pixels get the stem of ImageNet' test "$(stem b 65)" = imagenet
ok '--arch ,stem=small overrides the size' test "$(stem c 65 --arch ,stem=small)" = small
ok 'foil-train prints no estimate below a gigabyte' exits 1 grep -q 'takes about' c.err

feed large 144 64 1000
# prints the peak memory of the trainer
/usr/bin/python3 -c '
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(code)' "$BIN/foil-train" -r large --arch resnet8,stem=small,width=16 \
    --threads 1 --deadline 100 >bytes 2>large.err &
ok 'foil-train prints an estimate above a gigabyte' \
    becomes_true grep -q 'takes about' large.err
ok 'the estimate has memory, seconds per step and total time' grep -qE \
    'takes about [0-9.]+ GB of memory; [0-9.e+]+ s a step, [0-9hms]+ in all' \
    large.err
ok 'the estimate is printed before the first step' test ! -s large/metrics.jsonl
ok 'the run trains steps' becomes_true test -s large/metrics.jsonl
trainer=$(pgrep -P $! foil-train || echo $!)
kill -INT "$trainer"
ok 'SIGINT during a long step is acknowledged' becomes_true \
    grep -q 'stopping: finishing and saving this step' large.err
wait $!
ok 'SIGINT saves the run' test -e large/latest
estimate=$(sed -n 's/.*takes about \([0-9.]*\) GB.*/\1/p' large.err)
ok 'the estimate of memory is within a fifth of the peak' holds \
    "$estimate / ($(cat bytes) / 1e9) > 0.8 && $estimate / ($(cat bytes) / 1e9) < 1.25"
done_testing
