#!/usr/bin/env bash
# `foil run clip`: an encoder of images and captions, from data to results.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
cd "$work" || exit 1

foil-data generate -o set.tar --size 16 48 2>/dev/null
foil-data index set.tar 2>/dev/null
foil-data split --share 0.5 set.tar train.foil test.foil 2>/dev/null

# clip RUN ARG... : a small run of foil run clip
clip() {
    timeout -k 5 "$patience" foil run clip -r "$@" --batch 12 --augmenters 1 --threads 1 \
        --size 16 --train '--arch linear --text bow:8 --embed 8'
}

ok 'foil run clip trains without TEST' clip alone train.foil --epochs 1
ok 'foil run clip makes the vocabulary' grep -q '^#version' alone/vocabulary.txt
ok 'the checkpoint has the vocabulary of the run' cmp alone/vocabulary.txt \
    alone/latest/vocabulary.txt
ok 'foil run clip trains and evaluates with TEST' clip run train.foil test.foil --epochs 2
ok 'results.jsonl has caption retrieval by both rules' jq -es '
    map(select(.measure == "captions")) | length == 2 and
    (map(.rule) == ["equal", "strict"]) and all(.text_to_image.queries == 48)' \
    run/results.jsonl
ok 'results.jsonl has zero-shot classification by names of classes' jq -es '
    map(select(.measure == "zero-shot")) | length == 1 and
    .[0].texts == 8 and .[0].matched == "names"' run/results.jsonl
ok '--resume of a finished run trains nothing' bash -c "
    foil run clip --resume -r run 2>&1 | grep 'nothing is left to train'"
mkdir elsewhere
ok '--resume from another folder trains nothing' \
    bash -c "cd elsewhere &&
    foil run clip --resume -r ../run 2>&1 | grep 'nothing is left to train'"
ok '--resume of a finished run adds no results' test "$(wc -l <run/results.jsonl)" -eq 3
ok '--resume with another --context exits with 1' refuses 1 '--context is 16, but 32' \
    foil run clip --resume -r run --context 16

# the shapes by their words, and another vocabulary
printf '%s\n' circle square triangle cross ring stripes checks dots |
    awk '{ print NR - 1 "\t" $0 }' >shapes
echo 'a picture of a {}' >templates
ok 'foil run clip accepts --classes, --templates and --vocabulary' clip named \
    train.foil test.foil --epochs 1 --classes shapes --templates templates \
    --vocabulary alone/vocabulary.txt
ok 'zero-shot classification uses --classes and --templates' \
    jq -es 'map(select(.measure == "zero-shot")) |
    .[0].classes_from.made | .texts == "shapes" and .templates == "templates"' \
    named/results.jsonl
ok 'with --vocabulary, foil run clip makes no vocabulary' test ! -e named/vocabulary.txt

# foil-eval of both encoders
foil-data group --by caption -o equal.npy train.foil 2>/dev/null
foil-embed -o images.npy --layer z --threads 1 run train.foil 2>/dev/null
foil-embed -o texts.npy --layer z --threads 1 --captions run train.foil 2>/dev/null
mkdir files
ok 'foil-eval anchors measures a run of clip' \
    env TMPDIR=files foil-eval anchors --threads 1 --tau 0.1 run train.foil
cp "$work/out" both
ok 'foil-eval anchors measures the features of the run' \
    foil-eval anchors --threads 1 --tau 0.1 --negatives cross \
    images.npy texts.npy
# shellcheck disable=SC2016 # of jq
ok 'anchors of the run and of its features are the same' \
    jq -en --slurpfile a both --slurpfile b "$work/out" '
    $a[0].anchors == 48 and $a[0].negatives == "cross" and
    ($a[0].exact.median - $b[0].exact.median | fabs < 1e-6) and
    ($a[0].same_class_weight.mean - $b[0].same_class_weight.mean | fabs < 1e-6)'
ok 'foil-eval false-negatives takes groups of captions as labels' \
    foil-eval false-negatives --threads 1 -b 12 --replicas 2 \
    --objective clip --labels equal.npy run train.foil
ok 'foil-eval plan -r measures the pairs that the run has trained' \
    foil-eval plan --threads 1 -r run run train.foil
# shellcheck disable=SC2016 # of jq
ok 'foil-eval plan -r sees two batches of 12 in each of two epochs' jq -es '
    map([.epochs, .batch, .unseen]) == [[1, 12, 0], [2, 12, 0]] and
    (.[0].coverage - 11 / 23 | fabs < 1e-6) and .[1].coverage > .[0].coverage' "$work/out"
ok 'foil-eval anchors --views of a run of clip exits with 2' \
    refuses 2 'are for random views' \
    foil-eval anchors --views 3 run train.foil
ok 'foil-eval leaves no temporary files' rmdir files

# killed while it has temporary files, or ended before the first look
has_files() {
    [[ -n $(ls files) ]] || ! kill -0 "$1" 2>/dev/null
}
mkdir files
TMPDIR=files foil-eval anchors --threads 1 --tau 0.1 run train.foil >/dev/null 2>&1 &
ok 'foil-eval anchors makes temporary files' becomes_true has_files $!
kill -KILL $! 2>/dev/null
ok 'foil-eval leaves no temporary files after SIGKILL' becomes_true rmdir files

# a run of half the steps, resumed, gives the same encoders
ok 'a clip run of four epochs succeeds' clip whole train.foil --epochs 4
timeout -k 5 "$patience" foil run clip -r half train.foil --epochs 4 --batch 12 \
    --augmenters 1 --threads 1 --size 16 --train \
    '--arch linear --text bow:8 --embed 8 --steps 5' >/dev/null 2>&1
ok 'a clip run of the same steps in two parts succeeds' \
    timeout -k 5 "$patience" foil run clip --resume -r half \
    --train '--steps 8'
for file in model text head; do
    ok "$file.safetensors is the same in one run and in two parts" \
        cmp {whole,half}/latest/$file.safetensors
done

mkdir pics
foil-data cat train.foil 0 >pics/a.jpg
ok 'foil run clip of images without captions exits with 1' \
    refuses 1 "pics. has no captions" \
    bash -c 'foil-data index pics 2>/dev/null; exec foil run clip -r none pics'
ok 'foil run clip with a TEST without captions exits with 1' \
    refuses 1 "pics. has no captions" \
    foil run clip -r none train.foil pics
ok 'a refused data set leaves no run' test ! -e none
ok 'an option that the trainer refuses exits with 2' exits 2 \
    clip none train.foil --objective sogclr_bimodal,gamma=7
ok 'a refused option leaves no run' test ! -e none
ok '--stages prints the path of the vocabulary' bash -c "
    foil run clip --stages -r none train.foil |
    grep -c -- '--vocabulary none/vocabulary.txt' | grep -qx 2"
ok '--stages leaves no run' test ! -e none
done_testing
