#!/usr/bin/env bash
# foil-eval of encoders: their loss, what they are trained on, temperatures.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1
small_set

# loss: of encoders that a run of a few steps has left
ok 'a convolutional encoder' trained conv --arch resnet8,width=8 --head 24-8-bn
ok 'a linear one' trained linear --arch linear,hidden=6 --head none
ok 'a table' trained table --arch table,hidden=6 --head none
# near KEY A B : all values of that name are equal to a millionth
near() {
    paste <(grep -o "\"$1\":[-+0-9.e]*" "$2" | cut -d: -f2) \
        <(grep -o "\"$1\":[-+0-9.e]*" "$3" | cut -d: -f2) | awk '
        { print; bad += ($1 - $2) ^ 2 > 1e-12 * ($1 ^ 2 + $2 ^ 2) }
        END { exit bad || !NR }'
}
for run in conv linear table; do
    ok "loss of $run" says '"measure":"loss","loss":[0-9]' \
        loss --threads 1 $run set.tar
    mv line whole
    ok 'in chunks of 7 rows' says '"square_gradient":[0-9]' \
        loss --threads 1 -b 7 $run set.tar
    ok 'the same loss' near loss whole line
    ok 'the same gradient' near square_gradient whole line
done
ok 'the released form, too' grep -q '"released":{.*"beta":25.0' line
ok 'how many negatives' grep -q '"rows":48,"negatives":46,"views":2' line
ok 'the convolutional one again' says '"recipe":"cifar","seed":0' \
    loss --threads 1 conv set.tar
mv line whole
ok 'another seed' says '"seed":1' loss --threads 1 --seed 1 conv set.tar
ok 'has other views' exits 1 near loss whole line
ok 'another recipe' says '"recipe":"cifar,hue=0"' \
    loss --threads 1 --recipe cifar,hue=0 conv set.tar
ok 'has, too' exits 1 near loss whole line
ok 'three views' says '"rows":72,"negatives":69' loss --views 3 conv set.tar
ok 'a table has two: 1' refuses 1 'a table of 2 views, there is no view 2' \
    "$eval" loss --views 3 table set.tar
"$BIN/foil-data" split -n 5 set.tar five.foil /dev/null
ok 'of 24 images: 1' refuses 1 'a table of 24 images, the data set has 5' \
    "$eval" loss table five.foil
ok 'one view is no pair: 2' refuses 2 'want a whole number' \
    "$eval" loss --views 1 conv set.tar
ok 'no such recipe: 2' refuses 2 "no recipe 'soup': there are cifar" \
    "$eval" loss --recipe soup conv set.tar
ok 'a wrong field: 2' refuses 2 "hue is 'no', want a number in 0 .. 0.5" \
    "$eval" loss --recipe cifar,hue=no conv set.tar
ok 'no checkpoint: 1' refuses 1 "no checkpoint|cannot" \
    "$eval" loss set.tar set.tar
ok 'a damaged image: 1' refuses 1 'has changed' bash -c "
    cp set.tar bad.tar && '$BIN/foil-data' index bad.tar 2>/dev/null &&
    printf xxxx | dd of=bad.tar bs=1 seek=1900 conv=notrunc 2>/dev/null &&
    exec '$eval' loss conv bad.tar"

# pca: what --basis of foil-train takes
"$BIN/foil-embed" --raw --size 16 -o raw.npy set.tar 2>/dev/null
"$BIN/foil-embed" --raw --size 16 --recipe cifar -o view.npy set.tar 2>/dev/null
"$BIN/foil-embed" --raw --size 16 -o few.npy five.foil 2>/dev/null
ok 'a basis' says '"measure":"pca",.*"components":5,"d":768,"rows":48' \
    pca -k 5 -o basis.npy raw.npy view.npy
ok 'five directions and the centre' grep -aq "'shape': (6, 768)" basis.npy
ok 'is what an encoder is trained on' trained based --arch linear,hidden=4 \
    --head none --arch ,basis=basis.npy
ok 'and measured on' says '"square_gradient":[0-9].*"basis":5' \
    loss --threads 1 based set.tar
ok 'coordinates' "$eval" pca -k 5 -o basis.npy --coordinates rows.npy raw.npy \
    view.npy
ok 'of both views of each image' grep -aq "'shape': (48, 5)" rows.npy
ok 'are what an encoder is trained on' trained given --arch rows,hidden=4 \
    --head none --arch ,rows=rows.npy
ok 'and measured on' says '"square_gradient":[0-9].*"basis":5' \
    loss --threads 1 given set.tar
ok 'views of other images: 1' refuses 1 'same number of rows in each file' \
    "$eval" pca -k 2 -o b.npy --coordinates r.npy raw.npy few.npy
ok 'more directions than rows: 1' refuses 1 'have no 25 components' \
    "$eval" pca -k 25 -o b.npy raw.npy
ok 'no -o: 2' refuses 2 'wants a file' "$eval" pca raw.npy
cp raw.npy kept.npy
ok 'in place of its features: 2' refuses 2 "'kept.npy' is read from" \
    "$eval" pca -k 2 -o kept.npy raw.npy ./kept.npy
ok 'coordinates, too: 2' refuses 2 "'kept.npy' is read from" \
    "$eval" pca -k 2 -o b.npy --coordinates kept.npy kept.npy
ok 'they are as they were' cmp kept.npy raw.npy
ok 'a full disk: 1' refuses 1 'No space' "$eval" pca -k 5 -o /dev/full raw.npy
ok 'other columns: 1' refuses 1 'has 5 columns' \
    "$eval" pca -k 2 -o b.npy raw.npy rows.npy

# results of a run are kept in it
"$BIN/foil-embed" -o trained.npy conv set.tar 2>/dev/null
"$BIN/foil-embed" --untrained -o untrained.npy conv set.tar 2>/dev/null
for run in raw untrained; do
    ok "features of $run images are no results of a run" bash -c "
        '$eval' knn -k 3 $run.npy && ! grep -q knn conv/results.jsonl"
done
ok 'those of a checkpoint are' says '"measure":"knn"' knn -k 3 trained.npy
# shellcheck disable=SC2016 # of jq
ok 'with its step and all that was printed' jq -e --argjson printed "$(cat line)" \
    'select(.measure == "knn") | .step == 4 and .time > 1e9 and
    .accuracy == $printed.accuracy and .metric == "cosine"' conv/results.jsonl
ok 'so is the loss of a checkpoint' \
    jq -es 'map(select(.measure == "loss")) | length > 1' conv/results.jsonl
kept=$(wc -l <conv/results.jsonl)
ok '--no-record' says '"measure":"geometry"' geometry --no-record trained.npy
ok 'keeps one out' test "$(wc -l <conv/results.jsonl)" -eq "$kept"
mv conv/step-00000004 gone
ok 'a checkpoint that is gone is named, and the result printed' bash -c \
    "'$eval' geometry trained.npy 2>&1 >line | grep \"'conv' no longer has that check\""
ok 'whole' grep -q '"measure":"geometry"' line
mv gone conv/step-00000004

# temperature
ok 'an encoder with temperatures' trained warm --arch mlp,hidden=8 --head 4 \
    --objective isogclr,rho=0.1
ok 'are summed up' says '"column":"tau","mean":0.[0-9]*,"deviation":' \
    temperature --extreme 3 warm set.tar
ok 'with quantiles, counts, correlations' bash -c "grep '\"0.5\":0' line |
    grep '\"counts\":\[' | grep '\"spearman\":' | grep -q class_spearman"
ok 'class by class' grep -q '"classes":\[{"class":"0","size":3,"mean":0' line
ok 'of all samples' grep -q '"samples":24,"unseen":0,"extreme":3' line
ok 'another column' says '"column":"log_u"' temperature --column log_u warm set.tar
ok 'no such column: 1' refuses 1 "has no 'heat' for each sample" \
    "$eval" temperature --column heat warm set.tar
ok 'an objective without: 1' refuses 1 "has no 'tau'" \
    "$eval" temperature conv set.tar
ok 'other data: 1' refuses 1 'is not the data set that the encoder was trained on' \
    "$eval" temperature warm five.foil
mkdir -p pictures
if command -v gnuplot >/dev/null; then
    ok 'a picture' says '"column":"tau"' \
        temperature --plot pictures/t.png warm set.tar
    ok 'is a PNG' bash -c "head -c 4 pictures/t.png | grep -q PNG"
    cp pictures/t.png first.png
    ok 'and can be drawn again from its script' bash -c \
        "cd pictures && gnuplot t.gp && cmp t.png ../first.png"
else
    skip 'a picture' 'no gnuplot'
fi
ok 'no gnuplot: 1' refuses 1 "'pictures/u.gp' is its script" \
    env PATH=/nowhere "$eval" temperature --plot pictures/u.png warm set.tar
ok 'the script is there' test -s pictures/u.gp

if has_python numpy; then
    own=cifar,hue=0,scale-min=0.5
    "$eval" loss --threads 1 --recipe $own linear set.tar >linear.line
    ok 'a linear encoder agrees with the naive formula' \
        /usr/bin/python3 "$here/naive_loss.py" "$BIN/foil-embed" $own
    ok 'by another recipe, none of four figures' exits 4 \
        /usr/bin/python3 "$here/naive_loss.py" "$BIN/foil-embed" cifar
else
    skip 'a linear encoder agrees with the naive formula' 'no python3-numpy'
fi

done_testing
