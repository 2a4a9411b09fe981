#!/usr/bin/env bash
# A realistic folder, with images of all kinds among other files, some of them damaged:
# it is indexed, trained and evaluated, and every file is counted.  FILES sets its size,
# such as FILES=10000.
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
# made FIELD : prints how many files of that kind were made
made() {
    jq ".$1" made
}
find mixed \( -type f -o -type l \) >all
ok 'the folder has as many files as were made' test "$(wc -l <all)" -eq "$(made files)"
ok 'index refuses a folder with damaged files' exits 1 "$data" index mixed
ok 'the error names --bad skip' grep -q 'bad skip' "$work/out"
ok 'index --bad skip leaves out damaged files' \
    bash -c "'$data' index --bad skip mixed 2>messages"
tail -n 5 messages
ok 'index counts every file' grep -F "$(made files) files: \
$(made samples) images, $(made beside) with captions or labels, \
$(made skipped) skipped, $(made bad) left out as bad" messages
ok 'index counts images of other formats by extension' \
    grep -qE 'skipped \(.gif [0-9]+;' messages
ok 'index counts other files by extension' \
    grep -qE 'skipped \(.(md|csv) [0-9]+, .(md|csv) ' messages
ok 'the index has as many samples as were made' test \
    "$("$data" info mixed | sed -n 's/^samples\t//p')" -eq "$(made samples)"
ok 'the index has the classes of the folders' test \
    "$("$data" info mixed | sed -n 's/^classes\t//p')" -eq 8
ok 'index --decode decodes all images' bash -c \
    "'$data' index --bad skip --decode -o whole.foil mixed 2>decoded"
ok 'index --decode loses no image' grep -qF "$(made samples) images, " decoded

"$data" split --share 0.8 --seed 1 mixed train.foil test.foil 2>/dev/null
"$BIN/foil-augment" -r run --size 32 train.foil 2>augment.err &
"$BIN/foil-select" -r run --batch 32 --epochs 1 train.foil 2>select.err &
ok 'an encoder trains' "$BIN/foil-train" -r run --arch resnet8 --head 32 --threads 1 \
    --deadline 120
wait
ok 'the encoder trains all images' \
    test "$(jq -s '(last | .images), (map(.substituted) | add)' \
    run/metrics.jsonl | xargs)" = "$("$data" info train.foil |
    sed -n 's/^samples\t//p') 0"
for part in train test; do
    ok "foil-embed embeds the $part set" "$BIN/foil-embed" -o $part.npy run $part.foil
done
ok 'foil-eval knn evaluates the features' \
    bash -c "'$BIN/foil-eval' knn -k 1 train.npy test.npy >line"
jq -r .accuracy line
ok 'foil-eval knn uses all images' \
    test "$(jq '.train.n + .test.n' line)" -eq "$(made samples)"
done_testing
