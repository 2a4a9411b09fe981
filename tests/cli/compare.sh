#!/usr/bin/env bash
# A run ends with a comparison of its encoder with raw pixels: by labels, by views and by
# captions; training has the same bits without it, and its failure is only reported.
# Not for sanitizers: pipelines; other tests cover their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1

foil-data generate -o set.tar --size 16 64 2>/dev/null && foil-data index set.tar 2>/dev/null
foil-data split --share 0.5 set.tar train.foil test.foil 2>/dev/null
mkdir flat
for id in {0..31}; do
    foil-data cat set.tar "$id" >"flat/$id.jpg"
done

# train RUN PIPELINE ARG... : a small run; its messages are in RUN.err
train() {
    local run=$1 pipeline=$2 code=0
    shift 2
    timeout -k 5 "$patience" foil run "$pipeline" "$@" -r "$run" --batch 16 --epochs 2 \
        --augmenters 1 --threads 1 --size 16 >"$run.out" 2>"$run.err" || code=$?
    cat "$run.err"
    return "$code"
}
net=(--arch linear --head 16-9)

# says RUN TEXT : the table has the text, whatever its line breaks
says() {
    tr -s ' \n' ' ' <"$1/table.txt" | grep -E "$2"
}

# --------------------------------------------------------------- by labels
ok 'a run on labelled images succeeds' train labels simclr set.tar "${net[@]}"
ok 'its messages have the table' grep -qE '^the trained encoder +[0-9.]+ %$' labels.err
ok 'standard output has nothing of it' test ! -s labels.out
ok 'the table names images and training' says labels \
    'share of 64 images .* nearest of the others\. .*trained on all images of .set.tar'
ok 'the table says whether the encoder is better' says labels \
    '(No b|B)etter than raw pixels \(32x32\) by 1-NN: [+-][0-9.]+ points, noise [0-9.]+'
ok 'no line is longer than 200 characters' awk 'length > 200 { exit 1 }' labels.err
ok 'table.json has the figures' jq -e '.n == 64 and .noise > 0 and (.better | type) ==
    "boolean" and ([.pixels, .untrained, .trained] | all(.["1-NN"] >= 0))' labels/table.json
foil-embed -o mine.npy --threads 1 labels set.tar 2>/dev/null
ok 'its accuracy is that of foil-eval knn' test \
    "$(foil-eval knn -k 1 --no-record mine.npy | jq .accuracy)" = \
    "$(jq '.trained["1-NN"]' labels/table.json)"
ok 'results.jsonl has the result' jq -e '.measure == "knn" and .k == 1' labels/results.jsonl
ok 'near.png is a PNG' grep -q PNG labels/near.png
ok 'confusion.png is a PNG, where gnuplot is' bash -c \
    '! command -v gnuplot >/dev/null || grep -q PNG labels/confusion.png'
ok 'no raw pixels are left' test -z "$(find labels/embedded -name 'raw*')"
ok 'a finished run is not compared again' bash -c \
    'foil run simclr --resume -r labels 2>&1 | grep -c "raw pixels" | grep -qx 0'

ok 'a run with TEST succeeds' train test simclr train.foil test.foil "${net[@]}"
ok 'the table is of TEST' says test \
    'share of 32 test images .* nearest of 32 images of .train.foil'

cat >mine <<'END'
#!/usr/bin/env foil-run
# A pipeline without operands.
#: train    --arch linear --head 16-9

learn train.foil
END
chmod 755 mine
ok 'a run without operands succeeds' train mine.run ./mine
ok 'the table is of the data of learn' says mine.run "all images of 'train.foil'"
# shellcheck disable=SC2016 # for that script
echo 'echo mine >"$RUN/table.txt"' >>mine
ok 'a script may make its own table' train own.run ./mine
ok 'that is not replaced' grep -qx mine own.run/table.txt

evaluated=$here/../../pipelines/bin/evaluated
ok 'evaluated finds a result of the newest checkpoint' env RUN=test "$evaluated" probe
sed -i 's/"measure":"probe","step":[0-9]*/"measure":"probe","step":1/' test/results.jsonl
ok 'evaluated ignores results of other checkpoints' exits 1 env RUN=test "$evaluated" probe

# ----------------------------------------------- without it, and its failure
ok '--no-compare is an option' train bare simclr set.tar "${net[@]}" --no-compare
ok '--no-compare makes no table' test ! -e bare/table.txt -a ! -e bare/compare
ok 'the checkpoints with and without it are the same' diff -r -x config.json \
    -x MANIFEST.json bare/latest/ labels/latest/
mkdir -p bin share/foil
cp "$BIN/foil" bin
cp -r "$here/../../pipelines" share/foil
for tool in data select augment train eval run; do
    ln -s "$BIN/foil-$tool" bin
done
printf '#!/bin/sh\necho no power >&2\nexit 1\n' >bin/foil-embed
chmod 755 bin/foil-embed
ok 'a run whose comparison fails succeeds' env PATH="$work/bin:$PATH" bash -c \
    "$(declare -f train); train broken simclr set.tar ${net[*]}"
ok 'the failure is a line' test "$(grep -c 'no comparison: no power' broken.err)" = 1
ok 'the end of the run is reported' grep -q 'the run is over' broken.err

# ----------------------------------------------------------------- by views
ok 'a run on images without labels succeeds' train views simclr flat "${net[@]}"
ok 'the table has the other view and RankMe' \
    grep -qE '^the untrained encoder +[0-9.]+ % +[0-9]+\.[0-9]$' views/table.txt
ok 'the table says that there are no labels' says views \
    'no labels\. View: .* of 32 images .* all images of .flat'
# shellcheck disable=SC2016 # of bash
ok 'its figure is that of foil-eval retrieve' bash -c '
    for view in 0 1; do
        foil-embed -o "$view.npy" --threads 1 --recipe cifar --view "$view" views flat
    done 2>/dev/null
    test "$(foil-eval retrieve --no-record 0.npy 1.npy | jq .forward.r1)" = \
        "$(jq .trained.view views/table.json)"'

# -------------------------------------------------------------- by captions
ok 'a run on images and captions succeeds' train pairs clip train.foil test.foil \
    --train '--arch linear --text bow:8 --embed 8'
ok 'the table has canonical correlations and the encoders' test \
    "$(grep -cE '^(canonical correlations|the (untrained )?encoders)  ' pairs/table.txt)" = 3
ok 'the table says whether the encoders are better' says pairs \
    'etter than canonical correlations .*: [+-][0-9.]+ points, noise [0-9.]+'
ok 'table.json has all three' jq -e '[.correlations, .untrained, .encoders] |
    all(. >= 0)' pairs/table.json

done_testing
