#!/usr/bin/env bash
# foil-recipes(7): foil accepts its commands, and it has recipes for all sizes.
# Not for sanitizers: pipelines; other tests cover their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
page=$(cd "${0%/*}/../../tools" && pwd)/foil-recipes.7

cd "$work" || exit 1
PATH=$BIN:$PATH
foil data generate -o set.tar --size 40 60 2>/dev/null
mkdir photos && tar -C photos -xf set.tar && find photos -name '*.cls' -delete
# folders of classes, with captions next to the images
for class in a b; do
    mkdir "photos/$class"
done
n=0
for image in photos/*.jpg; do
    class=a
    ((++n % 2)) || class=b
    mv "${image%.jpg}".* "photos/$class"
done

# block N : prints the Nth literal display of the page
block() {
    awk -v n="$1" '/^\.Bd/ { k++; inside = 1; next } /^\.Ed/ { inside = 0 }
        inside && k == n' "$page"
}
ok 'the commands of the page make the data' bash -ec "$(block 1)"
ok 'the data have classes and captions' bash -c \
    'foil data info train.foil | grep "^classes.2" &&
     foil data info test.foil | grep "^captions.[1-9]"'

mkdir cifar && head -c 30730 /dev/zero | tee cifar/data_batch_1.bin \
    >cifar/test_batch.bin
ok 'the commands of the page import CIFAR-10' bash -ec "cd cifar; $(block 2)"
ok 'CIFAR-10 has a train and a test set' test -s cifar/train.foil -a -s cifar/test.foil

sed -n 's/^\.Dl //p' "$page" >recipes
ok 'the page has nine recipes' test "$(wc -l <recipes)" -eq 9
ok 'the page has a recipe for 160 pixels' grep -q -- ' -r run/160 ' recipes
for size in 32 64 96 224; do
    ok "the page has a recipe for $size pixels" grep -q -- " -r run/$size " recipes
    ok "the page has a recipe for $size pixels with texts" \
        grep -q -- " -r run/$size-texts " recipes
done
ok 'each recipe has its time, memory and result' test "$(grep -cE \
    '^(.*: )?[0-9]+ s and [0-9.]+ [MG]B; ' "$page")" -eq 9

# the last display, with a short run of 96 pixels
recipe=$(grep -- '-r run/96 ' recipes)
ok 'a recipe trains' bash -c \
    "$(sed 's/--epochs [0-9]*/--epochs 1/; s/--width [0-9]*/--width 16/' \
        <<<"$recipe") --batch 16"
ok 'a recipe evaluates knn and probe' \
    test "$(jq -r .measure run/96/results.jsonl | sort -u |
    xargs)" = 'knn probe'
ok 'the commands of the page use the encoder' bash -ec "$(block 3)"
ok 'the commands of the page write features and encoders' \
    test -s features.npy -a -s encoder.safetensors \
    -a -s encoder.onnx

# all recipes; some start with the encoder of 96 pixels
while read -r recipe; do
    ok "foil run accepts: ${recipe#foil run }" bash -c \
        "${recipe/ -r / -r another-} --stages >stages"
    ok "trainer, augmenters and selector are in: ${recipe#foil run }" test \
        "$(grep -cE '^(train|augment|select) ' stages)" -eq 3
done <recipes
done_testing
