#!/bin/sh
# usage: learn-pairs.sh VOCABULARY METHOD SEED
#
# A trial of a study of images and captions: --epochs of TRAIN, tested on TEST by how
# often images find their captions (TR) and captions their images (IR), by the rule
# equal.
set -eu
all=$("$PARTS/batches.sh" "$TRAIN" "$BATCH")
"$PARTS/learn-steps.sh" $((EPOCHS * all)) "$all" --captions "$1" --method "$2" --seed "$3" \
    --augment "--views 1 --size $SIZE --context $CONTEXT --caption $CAPTION" "$TRAIN"
features test "$TEST" --layer z
features test-texts "$TEST" --captions
foil-eval retrieve --captions --threads "$THREADS" "$RUN/embedded/test.npy" \
    "$RUN/embedded/test-texts.npy" >"$RUN/judged.jsonl"
"$PARTS/recalls.sh" "$RUN" >>"$RUN/result.new"
