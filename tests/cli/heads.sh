#!/usr/bin/env bash
# Heads on rows of arrays, the features of frozen encoders: `foil run adapt` on one array,
# `foil run heads` on two; kill -9 and a resumed run; refusals.
# Not for sanitizers: pipelines and a kill; tests/data/test_row.c has the rows.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
cd "$work" || exit 1

# 64 rows of 192 numbers with labels; two captions of each as rows of other width
foil-data generate -o set.tar --size 16 64 2>/dev/null
foil-data index set.tar 2>/dev/null
foil-data vocabulary -o words set.tar 2>/dev/null
foil-embed --raw --size 8 -o x.npy set.tar 2>/dev/null
foil-embed --raw --captions --vocabulary words -o y.npy set.tar 2>/dev/null
cp x.npy bare.npy

# --------------------------------------------------------- an array as a data set
ok 'an array has an index' foil-data index x.npy
ok 'the message of foil-data index counts rows and classes' grep -q '64 images, 8 classes' "$work/out"
ok 'a sample of an array is a row' bash -c \
    'foil-data list x.npy | sed -n 2p | grep -qP "^0\t.*\t768\t192\t1\trow 0\t"'
ok 'foil-embed --raw copies the direction of rows' foil-embed --raw -o raw.npy x.npy
ok 'rows and features have the same neighbours' test \
    "$(foil-eval knn -k 1 --no-record raw.npy | jq .accuracy)" = \
    "$(foil-eval knn -k 1 --no-record x.npy | jq .accuracy)"

# ------------------------------------------------------------------- foil run adapt
# adapt RUN ARG... : a small run
adapt() {
    timeout -k 5 "$patience" foil run adapt -r "$@" --batch 16 --epochs 2 --augmenters 1 \
        --threads 1
}
ok 'foil run adapt trains and compares' adapt labels x.npy
ok 'the table of adapt compares with the features as they are' grep -qE \
    '^the features as they are +[0-9.]+ % +[0-9.]+$' labels/table.txt
ok 'the table of adapt has RankMe' grep -qE '^features +1-NN +RankMe$' labels/table.txt
ok 'the encoder is a head of the width of the rows' jq -e \
    '.encoder | .arch == "frozen:192x2" and .channels == 4 and .height == 1' \
    labels/latest/config.json
foil-embed --untrained -o same.npy --threads 1 labels x.npy 2>/dev/null
ok 'the untrained head is the identity' cmp raw.npy same.npy
ok 'foil-embed writes labels and names of classes' cmp x.classes same.classes
ok 'foil run adapt compares by views where there are no labels' adapt bare bare.npy --layers 1
foil-view --export page.html -r labels 2>/dev/null
ok 'the page of a run on rows has no pictures' bash -c \
    'test -s page.html && ! grep -q "data:image/jpeg" page.html'
ok 'the table without labels has the share of views and RankMe' grep -qE '^features +view +RankMe$' \
    bare/table.txt
ok 'stored views are the second views' adapt pair x.npy --pair y.npy --no-compare

# --------------------------------------------------------------------- objectives
for how in '--objective emc2' \
    "--objective emc2 --negatives '--proposals shared --filter' --augment --filter" \
    '--objective isogclr' "--select '--strategy spectral'" "--select '--strategy swap'"; do
    eval "set -- $how"
    ok "adapt runs with $how" adapt "run-$count" x.npy --no-compare "$@"
done

# ------------------------------------------------------------------- foil run heads
# heads RUN ARG... : a small run
heads() {
    timeout -k 5 "$patience" foil run heads -r "$@" --batch 16 --epochs 2 --augmenters 1 \
        --threads 1
}
ok 'foil run heads trains on two arrays' heads two x.npy y.npy x.npy y.npy
ok 'the table of heads has canonical correlations, untrained heads and the heads' bash -c '
    grep -q "^canonical correlations  *[0-9]" two/table.txt &&
    grep -q "^the untrained encoders  *[0-9]" two/table.txt &&
    grep -q "^the encoders  *[0-9]" two/table.txt'
ok 'the table of heads has RankMe and 1-NN' grep -q 'RankMe   1-NN' two/table.txt
ok 'results.jsonl counts equal texts as one' jq -es \
    'map(select(.rule == "equal")) | length == 1 and .[0].text_to_image.queries == 128' \
    two/results.jsonl
ok 'the table of heads says whether they are better' grep -qE \
    '^(Better|No better) than canonical correlations by the first answer' two/table.txt
ok 'table.json has the shares for the page' jq -e \
    '.base == "canonical correlations" and .n > 0 and .encoders >= 0' two/table.json
ok 'heads without others to judge them train' heads same x.npy y.npy
ok 'their table says that they were trained on these pairs' grep -q \
    '^The heads were trained on these pairs' same/table.txt
ok 'they have no table.json' test ! -e same/table.json
ok 'the checkpoint of heads has both' test -e two/latest/text.safetensors -a \
    -e two/latest/model.safetensors
ok 'the two heads begin with other weights' bash -c \
    '! cmp -s two/latest/text.safetensors two/latest/model.safetensors'
for objective in vicreg sogclr_bimodal emc2_bimodal cache; do
    ok "heads run with --objective $objective" heads "$objective" x.npy y.npy \
        --objective "$objective"
done

# ----------------------------------------------------------- kill -9 and --resume
train_with=(--arch frozen:8x2 --text frozen:8x2 --objective sogclr_bimodal --optim adamw
    --lr 1e-3 --checkpoint-every 4)
data=x.npy select_with=(-b 8 -e 30) augment_with=(--recipe rows --pair y.npy)
ok 'a run without a fault succeeds' trained whole
mkdir killed
foil-augment -r killed "${augment_with[@]}" x.npy 2>/dev/null &
others=$!
foil-select -r killed "${select_with[@]}" x.npy 2>/dev/null &
others="$others $!"
foil-train -r killed --threads 1 "${train_with[@]}" 2>/dev/null &
trainer=$!
ok 'a run has a checkpoint' becomes_true test -e killed/latest
kill_now "$trainer"
ok 'after kill -9 of the trainer --resume ends the run' foil-train -r killed --threads 1 \
    "${train_with[@]}" --resume --deadline 60
# shellcheck disable=SC2086 # two numbers
kill -KILL $others 2>/dev/null
wait
for file in model text optim text-optim samples; do
    ok "the resumed run has the $file.safetensors of the whole one" cmp \
        "whole/latest/$file.safetensors" "killed/latest/$file.safetensors"
done

# ----------------------------------------------------------------- by shards
select_with=(-b 8 -e 1)
train_with=(--arch frozen:8x2 --text frozen:8x2 --objective clip --shards 2)
ok 'batches of two arrays are cut into shards' trained shards

# ------------------------------------------------------------------------ refusals
mkdir none
ok 'a row of whole numbers exits with 1' refuses 1 "want rows of features, f4 or f2" \
    foil-data index x.labels.npy
ok '--recipe cifar of rows exits with 1' refuses 1 'with --recipe rows and' \
    foil-augment -r none --recipe cifar x.npy
ok '--recipe rows of images exits with 1' refuses 1 'has images' \
    foil-augment -r none --recipe rows set.tar
ok '--pair of another number of rows exits with 1' bash -c "
    foil-embed --raw --shard 1/3 --size 8 -o few.npy set.tar 2>/dev/null &&
    foil-data index few.npy 2>/dev/null
    foil-augment -r none --recipe rows --pair few.npy x.npy 2>&1 |
    grep 'wants as many rows for each of the 64'"
ok 'images and a head of rows exit with 2' refuses 2 'two encoders of rows, or of images' \
    foil-train -r none --arch resnet18 --text frozen:8x1
ok 'a head of four layers exits with 2' refuses 2 'want 1 to 3 layers' \
    foil-train -r none --arch frozen:8x4
ok '--vocabulary with rows exits with 2' refuses 2 'no effect on rows' \
    foil-train -r none --arch frozen:8x1 --text frozen:8x1 --vocabulary words
ok 'images in a head of rows exit with 1' refuses 1 "has images" \
    foil-embed -o no.npy labels set.tar
ok '--export DIR/ of a head exits with 1' refuses 1 'frozen:192x2 cannot be exported' \
    foil-embed --export folder/ labels
done_testing
