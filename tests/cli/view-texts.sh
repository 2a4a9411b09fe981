#!/usr/bin/env bash
# The page of foil-view of a run with two towers: images and their texts.
# Not for sanitizers: other tests run the stages of pipelines.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
cd "$work" || exit 1
foil-data generate -o set.tar 96 2>/dev/null && foil-data index set.tar 2>/dev/null
foil-data list set.tar >listed

foil run clip -r run set.tar --batch 16 --epochs 100000 --augmenters 1 --threads 1 \
    --size 16 --train '--arch linear --text bow:8 --embed 8 --checkpoint-every 50' \
    >run.out 2>run.err &
training=$!
becomes_true test -s run/metrics.jsonl
foil-view --port 0 -r run >address 2>view.err &
page=$!
becomes_true test -s address
at=$(<address)

# request PATH : the answer is in the file `answer`
request() {
    curl -sf -m 20 -o answer "$at$1"
}
is_known() {
    request all && jq -e '.batch.known and (.batch.texts | length) > 14' answer
}
ok 'a batch with its texts' becomes_true is_known
jq .batch answer >batch.json
ok 'one picture of each image' jq -e '.pictures == 1 and .views == 2' batch.json
# foil-data list separates the captions of an image by "\n"; the page has one of them
ok 'each text is a caption of its image' bash -c "
    paste <(jq -r '.ids[]' batch.json) <(jq -r '.texts[]' batch.json) |
        awk -F '\t' 'NR == FNR { caption[\$1] = \$8; next }
            { n++; if (index(\"\\\\n\" caption[\$1] \"\\\\n\", \"\\\\n\" \$2 \"\\\\n\") == 0) exit 1 }
            END { exit n < 15 }' listed -"
read -r epoch step < <(jq -r '"\(.epoch) \(.step)"' batch.json)
ok 'embeddings of images and texts' request "embeddings?epoch=$epoch&step=$step"
# shellcheck disable=SC2016 # not this shell's
ok 'of 8 floats each, in base64' jq -e --slurpfile batch batch.json '
    (.z | length) == ((($batch[0].ids | length) * 64 + 2) / 3 | floor) * 4' answer
ok 'its pictures' request "sprite?epoch=$epoch&step=$step"
kill "$page"
kill -TERM "$training"
wait "$training"
foil-view --port 0 -r run >finished 2>view.err &
page=$!
becomes_true test -s finished
at=$(<finished)
ok 'a finished run' request all
ok 'has the texts of its last batch' jq -e '.batch | .known == false and
    .pictures == 1 and (.texts | length) > 14 and all(.texts[]; length > 5)' answer
kill "$page"
wait "$page"

# with another rule for captions
is_refused() {
    sed -i 's/"caption":"random"/"caption":"some"/' run/batches.jsonl
    refuses 1 "'caption' is 'some', want one of random|first|all" foil-data views -o x.png run
}
ok 'an unknown rule for captions: 1' is_refused
done_testing
