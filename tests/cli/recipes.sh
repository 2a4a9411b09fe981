#!/usr/bin/env bash
# The page of recipes: its commands are taken, and what it tells is complete.
# Not for sanitizers: pipelines, their stages are in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
page=$(cd "${0%/*}/../../tools" && pwd)/foil-recipes.7

cd "$work" || exit 1
PATH=$BIN:$PATH
foil data generate -o set.tar --size 40 60 2>/dev/null
mkdir photos && tar -C photos -xf set.tar && find photos -name '*.cls' -delete
# classes as folders have them, captions beside the images
for class in a b; do
    mkdir "photos/$class"
done
n=0
for image in photos/*.jpg; do
    class=a
    ((++n % 2)) || class=b
    mv "${image%.jpg}".* "photos/$class"
done

# block N : the lines of the page's Nth literal display
block() {
    awk -v n="$1" '/^\.Bd/ { k++; inside = 1; next } /^\.Ed/ { inside = 0 }
        inside && k == n' "$page"
}
ok 'the data are made as the page says' bash -ec "$(block 1)"
ok 'with classes and captions' bash -c \
    'foil data info train.foil | grep "^classes.2" &&
     foil data info test.foil | grep "^captions.[1-9]"'

mkdir cifar && head -c 30730 /dev/zero | tee cifar/data_batch_1.bin \
    >cifar/test_batch.bin
ok 'CIFAR-10 is imported as the page says' bash -ec "cd cifar; $(block 2)"
ok 'as train and test' test -s cifar/train.foil -a -s cifar/test.foil

sed -n 's/^\.Dl //p' "$page" >recipes
ok 'there are nine recipes' test "$(wc -l <recipes)" -eq 9
ok '160 pixels: alone' grep -q -- ' -r run/160 ' recipes
for size in 32 64 96 224; do
    ok "$size pixels: alone" grep -q -- " -r run/$size " recipes
    ok "$size pixels: with texts" grep -q -- " -r run/$size-texts " recipes
done
ok 'each has figures: time, memory, and what it reached' test "$(grep -cE \
    '^(.*: )?[0-9]+ s and [0-9.]+ [MG]B; ' "$page")" -eq 9

# the last display, with a short run in place of that of 96 pixels
recipe=$(grep -- '-r run/96 ' recipes)
ok 'a recipe runs' bash -c \
    "$(sed 's/--epochs [0-9]*/--epochs 1/; s/--width [0-9]*/--width 16/' \
        <<<"$recipe") --batch 16"
ok 'and is judged' test "$(jq -r .measure run/96/results.jsonl | sort -u |
    xargs)" = 'knn probe'
ok 'its encoder is used as the page says' bash -ec "$(block 3)"
ok 'files are there' test -s features.npy -a -s encoder.safetensors \
    -a -s encoder.onnx

# all of them, some of which begin with the encoder of 96 pixels
while read -r recipe; do
    ok "is taken: ${recipe#foil run }" bash -c \
        "${recipe/ -r / -r another-} --stages >stages"
    ok 'by trainer, augmenters and selector' test \
        "$(grep -cE '^(train|augment|select) ' stages)" -eq 3
done <recipes
done_testing
