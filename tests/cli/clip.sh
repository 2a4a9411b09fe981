#!/usr/bin/env bash
# `foil run clip`: images and captions, from files to figures.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
cd "$work" || exit 1

foil-data generate -o set.tar --size 16 48 2>/dev/null
foil-data index set.tar 2>/dev/null
foil-data split --share 0.5 set.tar train.foil test.foil 2>/dev/null

# clip RUN ARG... : a run of seconds at most
clip() {
    timeout -k 5 "$patience" foil run clip -r "$@" --batch 12 --augmenters 1 --threads 1 \
        --size 16 --train '--arch linear --text bow:8 --embed 8'
}

ok 'a run without TEST' clip alone train.foil --epochs 1
ok 'makes the vocabulary' grep -q '^#version' alone/vocabulary.txt
ok 'which the checkpoint has' cmp alone/vocabulary.txt \
    alone/latest/vocabulary.txt
ok 'a run with TEST' clip run train.foil test.foil --epochs 2
ok 'is judged by retrieval, by both rules' jq -es '
    map(select(.measure == "captions")) | length == 2 and
    (map(.rule) == ["equal", "strict"]) and all(.text_to_image.queries == 48)' \
    run/results.jsonl
ok 'and by the texts of the classes' jq -es '
    map(select(.measure == "zero-shot")) | length == 1 and
    .[0].texts == 8 and .[0].matched == "names"' run/results.jsonl
ok 'going on with it trains nothing' bash -c "
    foil run clip --resume -r run 2>&1 | grep 'nothing is left to train'"
mkdir elsewhere
ok 'nor from another folder, from where its vocabulary has another path' \
    bash -c "cd elsewhere &&
    foil run clip --resume -r ../run 2>&1 | grep 'nothing is left to train'"
ok 'and judges nothing again' test "$(wc -l <run/results.jsonl)" -eq 3
ok 'other options are refused: 1' refuses 1 '--context is 16, but 32' \
    foil run clip --resume -r run --context 16

# the shapes by their words, and another vocabulary
printf '%s\n' circle square triangle cross ring stripes checks dots |
    awk '{ print NR - 1 "\t" $0 }' >shapes
echo 'a picture of a {}' >templates
ok 'names and texts of classes, and a vocabulary, may be given' clip told \
    train.foil test.foil --epochs 1 --classes shapes --templates templates \
    --vocabulary alone/vocabulary.txt
ok 'they are used' jq -es 'map(select(.measure == "zero-shot")) |
    .[0].classes_from.made | .texts == "shapes" and .templates == "templates"' \
    told/results.jsonl
ok 'no vocabulary is made then' test ! -e told/vocabulary.txt

# the instruments look at both encoders
foil-data group --by caption -o equal.npy train.foil 2>/dev/null
foil-embed -o images.npy --layer z --threads 1 run train.foil 2>/dev/null
foil-embed -o texts.npy --layer z --threads 1 --captions run train.foil 2>/dev/null
mkdir files
ok 'anchors' env TMPDIR=files foil-eval anchors --threads 1 --tau 0.1 run train.foil
cp "$work/out" both
ok 'anchors of features' foil-eval anchors --threads 1 --tau 0.1 --negatives cross \
    images.npy texts.npy
# shellcheck disable=SC2016 # of jq
ok 'are the same' jq -en --slurpfile a both --slurpfile b "$work/out" '
    $a[0].anchors == 48 and $a[0].negatives == "cross" and
    ($a[0].exact.median - $b[0].exact.median | fabs < 1e-6) and
    ($a[0].own.mean - $b[0].own.mean | fabs < 1e-6)'
ok 'false negatives by captions' foil-eval false-negatives --threads 1 -b 12 --epochs 2 \
    --objective clip --labels equal.npy run train.foil
ok 'the pairs that the run has shown' foil-eval plan --threads 1 -r run run train.foil
# shellcheck disable=SC2016 # of jq
ok 'two batches of 24 images in each of two epochs' jq -es '
    map([.epochs, .batch, .unseen]) == [[1, 12, 0], [2, 12, 0]] and
    (.[0].coverage - 11 / 23 | fabs < 1e-6) and .[1].coverage > .[0].coverage' "$work/out"
ok 'random views of captions: 2' refuses 2 'are for random views' \
    foil-eval anchors --views 3 run train.foil
ok 'nothing is left behind' rmdir files

# killed while its files are there, or over before we look
begun() {
    [[ -n $(ls files) ]] || ! kill -0 "$1" 2>/dev/null
}
mkdir files
TMPDIR=files foil-eval anchors --threads 1 --tau 0.1 run train.foil >/dev/null 2>&1 &
ok 'an instrument makes files for itself' becomes_true begun $!
kill -KILL $! 2>/dev/null
ok 'killed, nothing is left behind either' becomes_true rmdir files

# half of it, killed, and the rest: the same encoders
ok 'a run of four epochs' clip whole train.foil --epochs 4
timeout -k 5 "$patience" foil run clip -r half train.foil --epochs 4 --batch 12 \
    --augmenters 1 --threads 1 --size 16 --train \
    '--arch linear --text bow:8 --embed 8 --steps 5' >/dev/null 2>&1
ok 'the same in two parts' timeout -k 5 "$patience" foil run clip --resume -r half \
    --train '--steps 8'
for file in model text head; do
    ok "the same $file" cmp {whole,half}/latest/$file.safetensors
done

mkdir pics
foil-data cat train.foil 0 >pics/a.jpg
ok 'images without captions: 1' refuses 1 "pics. has no captions" \
    bash -c 'foil-data index pics 2>/dev/null; exec foil run clip -r none pics'
ok 'a TEST without captions: 1' refuses 1 "pics. has no captions" \
    foil run clip -r none train.foil pics
ok 'what is refused leaves nothing' test ! -e none
ok 'options that the trainer refuses: 1' exits 2 \
    clip none train.foil --objective sogclr_bimodal,gamma=7
ok 'leave nothing either' test ! -e none
ok 'the list of stages has the vocabulary' bash -c "
    foil run clip --stages -r none train.foil |
    grep -c -- '--vocabulary none/vocabulary.txt' | grep -qx 2"
ok 'and leaves nothing' test ! -e none
done_testing
