#!/usr/bin/env bash
# Views whose size changes between epochs: the result depends neither on the number of
# augmenters nor on kills, and other sizes are refused.
# Not for sanitizers: other tests run the stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1

cd "$work" || exit
data=set.tar
"$BIN/foil-data" generate --size 24 -o set.tar 64 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
sizes=12@0,8@2,16@3
augment_with=(--size "$sizes")
select_with=(-b 16 -e 5)
train_with=(--arch resnet8 --head 16-8 --checkpoint-every 3)

# same RUN RUN : all saved arrays and all metrics are equal
same() {
    local file
    for file in model head optim; do
        cmp "$1/latest/$file.safetensors" "$2/latest/$file.safetensors" || return
    done
    cmp <(timeless "$1") <(timeless "$2")
}

mkdir -m 700 one many killed
ok 'a run trains' trained one
ok 'it has all steps' test "$(steps one)" = 20
# height RUN : prints the height of the images of the encoder
height() {
    jq .encoder.height "$1/latest/config.json"
}
ok 'its encoder has the last size' test "$(height one)" = 16
# shellcheck disable=SC2016 # of jq
ok 'the size is in the record of the batches' jq -es --arg sizes "$sizes" \
    'map(.view_options | select(.) | .sizes == $sizes) | all' one/batches.jsonl

"$BIN/foil-augment" -r many --size "$sizes" set.tar 2>many.augment &
"$BIN/foil-augment" -r many --size "$sizes" set.tar 2>>many.augment &
ok 'a run with three augmenters trains' trained many
wait
ok 'its result is the same' same one many

# A run that ends before, at and after each change of size, and is killed there.
# killed_at STEP : kills a run after that many steps
killed_at() {
    "$BIN/foil-augment" -r killed --size "$sizes" set.tar 2>killed.augment &
    local feeders=("$!")
    "$BIN/foil-select" -r killed "${select_with[@]}" set.tar 2>killed.select &
    feeders+=("$!")
    "$BIN/foil-train" -r killed --threads 1 "${train_with[@]}" --resume 2>killed.train &
    trainer=$!
    reaches killed "$1"
    kill_now "$trainer" "${feeders[@]}"
}
for step in 3 7 8 9 12 13; do
    ok "a run is killed after step $step" killed_at "$step"
done
ok 'the killed run ends' trained killed --resume
ok 'its result is the same' same one killed

# The run `many` goes on, with another augmenter.
"$BIN/foil-augment" -r many --size 24 set.tar 2>many.other &
other=$!
"$BIN/foil-select" -r many -b 16 -e 9 set.tar 2>>many.select &
feeder=$!
"$BIN/foil-train" -r many --threads 1 --resume 2>many.train &
trainer=$!
ok 'an augmenter with another size is refused' exits 1 wait "$other"
ok 'it prints why' grep -q 'images of 24x24: this run has 16x16' many.other
kill_now "$trainer" "$feeder"

# refused PATTERN SIZES OPTION... : a trainer with these options refuses such augmenters
refused() {
    local code=0
    rm -rf new
    mkdir -m 700 new
    "$BIN/foil-select" -r new -b 16 -e 5 set.tar 2>new.select &
    feeder=$!
    "$BIN/foil-train" -r new --threads 1 "${@:3}" 2>new.train &
    trainer=$!
    "$BIN/foil-augment" -r new --size "$2" set.tar 2>new.augment || code=$?
    kill_now "$trainer" "$feeder"
    test "$code" = 1 && grep -q "$1" new.augment
}
ok 'a vision transformer has one size' refused 'vit:16x1x8 reads images of one size' \
    16@0,8@1 --arch vit:16x1x8
ok 'one stem is for all sizes' refused 'some would have the stem imagenet' 64@0,72@1 \
    --arch resnet8
ok 'it has one size of features, too' refuses 2 'reads images of one size' \
    "$BIN/foil-train" -r new --arch vit:16x1x8 --feature-size 32
ok 'foil run fast trains and evaluates' "$BIN/foil" run fast set.tar set.tar -r fast \
    --epochs 1 --batch 16 --arch ,width=8 --augmenters 1 --threads 1
ok 'its views have 16 pixels' test "$(height fast)" = 16
ok 'its features are made of 32' jq -es \
    'length > 1 and all(.train.made.image_size == 32)' fast/results.jsonl
# fixed RUN : prints half the number of fixed filters
fixed() {
    jq .encoder.basis "$1/latest/config.json"
}
ok 'its first filters are directions of patches' test "$(fixed fast)" = 4
ok 'it compares them with raw pixels' grep -q 'raw pixels (32x32)' fast/table.txt
ok 'the size of features is the run'"'"'s' "$BIN/foil-embed" -o own.npy fast set.tar
ok 'the checkpoint has the size of features' test "$(jq .image_size own.json)" = 32
ok '--size replaces the size of the checkpoint' \
    "$BIN/foil-embed" --size 24 -o own.npy fast set.tar
ok 'its features are of that size' test "$(jq .image_size own.json)" = 24
ok 'foil run fast follows the sizes of the user' bash -c "'$BIN/foil' run fast set.tar \
    --stages --augment.size 8 --train.feature-size 12 2>&1 |
    grep 'views of 8, features of 12'"
ok 'foil run fast --minutes chooses the epochs' "$BIN/foil" run fast set.tar -r minutes \
    --minutes 0.01 --batch 16 --arch ,width=8 --augmenters 1 --threads 1 --no-compare
ok 'it stores them' grep -qE '^size=16 features=32 EPOCHS=[1-9]' minutes/chosen
ok 'a resumed run has the same' bash -c "'$BIN/foil' run --resume -r minutes"
ok 'it stops in the middle' "$BIN/foil" run fast set.tar -r stopped --epochs 2 --batch 16 \
    --arch ,width=8 --augmenters 1 --threads 1 --no-compare --train.steps 5
mkdir elsewhere
ok 'it continues with its filters, also when called elsewhere' bash -c "cd elsewhere &&
    '$BIN/foil' run fast ../set.tar -r ../stopped --resume --train.steps 8"
ok 'it ends after eight steps' test "$(steps stopped)" = 8
small=(--epochs 1 --batch 16 --augmenters 1 --threads 1 --no-compare)
ok 'foil run fast trains with --arch ,basis=' "$BIN/foil" run fast set.tar -r trained \
    "${small[@]}" --arch ,width=8,basis=
ok 'its filters are trained' test "$(fixed trained)" = 0
# grey images: any bytes
{ printf '\0\0\10\3\0\0\0\100\0\0\0\20\0\0\0\20' && head -c 16384 set.tar; } >grey.idx
"$BIN/foil-data" import -o grey.tar idx grey.idx 2>/dev/null
ok 'foil run fast trains on grey images' "$BIN/foil" run fast grey.tar -r grey "${small[@]}" \
    --arch ,width=20
ok 'their patches have fewer directions: the filters are trained' test "$(fixed grey)" = 0
ok '--minutes x exits with 2' refuses 2 'want a number' "$BIN/foil" run fast set.tar \
    -r other --minutes x
for wrong in 0@0 8@1 8@0,16@0 8@0,16 '8@0,' 8,x 8@-1 5000 8@0,16@99999999999; do
    ok "--size $wrong exits with 2" refuses 2 'is no size of views' \
        "$BIN/foil-augment" --size "$wrong" --dry-run -r one set.tar
done
done_testing
