#!/usr/bin/env bash
# A folder as people have it: images of all kinds among other files, some of
# them broken: indexed, trained and judged, with every file accounted for.
# FILES=10000 makes it as large as that.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
mixed=$(cd "${0%/*}" && pwd)/mixed.py
data=$BIN/foil-data

if ! has_python PIL; then
    skip 'a mixed folder' 'no python3-pil'
    done_testing
fi
cd "$work" || exit 1
"$data" generate -o set.tar --size 32 400 2>/dev/null
/usr/bin/python3 "$mixed" set.tar mixed "${FILES:-400}" >made
cat made
# made FIELD : what the folder has of it
made() {
    jq ".$1" made
}
find mixed \( -type f -o -type l \) >all
ok 'so many files are there' test "$(wc -l <all)" -eq "$(made files)"
ok 'what is broken is refused' exits 1 "$data" index mixed
ok 'with a word on how to go on' grep -q 'bad skip' "$work/out"
ok 'or left out' bash -c "'$data' index --bad skip mixed 2>said"
tail -n 5 said
ok 'every file is accounted for' grep -F "$(made files) files: \
$(made samples) images, $(made beside) with captions or labels, \
$(made skipped) skipped, $(made bad) left out as bad" said
ok 'images of other forms by kind' grep -qE 'skipped \(.gif [0-9]+;' said
ok 'other files, too' grep -qE 'skipped \(.(md|csv) [0-9]+, .(md|csv) ' said
ok 'the index has so many samples' test \
    "$("$data" info mixed | sed -n 's/^samples\t//p')" -eq "$(made samples)"
ok 'of the classes of the folders' test \
    "$("$data" info mixed | sed -n 's/^classes\t//p')" -eq 8
ok 'all of them can be decoded' bash -c \
    "'$data' index --bad skip --decode -o whole.foil mixed 2>decoded"
ok 'so none is lost by it' grep -qF "$(made samples) images, " decoded

"$data" split --share 0.8 --seed 1 mixed train.foil test.foil 2>/dev/null
"$BIN/foil-augment" -r run --size 32 train.foil 2>augment.err &
"$BIN/foil-select" -r run --batch 32 --epochs 1 train.foil 2>select.err &
ok 'trained' "$BIN/foil-train" -r run --arch resnet8 --head 32 --threads 1 \
    --deadline 120
wait
ok 'with all of them' test "$(jq -s '(last | .images), (map(.substituted) | add)' \
    run/metrics.jsonl | xargs)" = "$("$data" info train.foil |
    sed -n 's/^samples\t//p') 0"
for part in train test; do
    ok "$part: embedded" "$BIN/foil-embed" -o $part.npy run $part.foil
done
ok 'judged' bash -c "'$BIN/foil-eval' knn -k 1 train.npy test.npy >line"
jq -r .accuracy line
ok 'by all of them' test "$(jq '.train.n + .test.n' line)" -eq "$(made samples)"
done_testing
