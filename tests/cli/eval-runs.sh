#!/usr/bin/env bash
# foil-eval of encoders: loss, pca, results of a run, temperatures.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1
small_set

# loss, of encoders of short runs
ok 'a convolutional encoder trains' trained conv --arch resnet8,width=8 --head 24-8-bn
ok 'a linear encoder trains' trained linear --arch linear,hidden=6 --head none
ok 'a table of embeddings trains' trained table --arch table,hidden=6 --head none
# near KEY A B : all values of that key differ by at most a millionth
near() {
    paste <(grep -o "\"$1\":[-+0-9.e]*" "$2" | cut -d: -f2) \
        <(grep -o "\"$1\":[-+0-9.e]*" "$3" | cut -d: -f2) | awk '
        { print; bad += ($1 - $2) ^ 2 > 1e-12 * ($1 ^ 2 + $2 ^ 2) }
        END { exit bad || !NR }'
}
for run in conv linear table; do
    ok "loss of $run" prints_line '"measure":"loss","loss":[0-9]' \
        loss --threads 1 $run set.tar
    mv line whole
    ok "loss of $run in chunks of 7 rows" prints_line '"square_gradient":[0-9]' \
        loss --threads 1 -b 7 $run set.tar
    ok "loss of $run is the same in chunks" near loss whole line
    ok "the gradient of $run is the same in chunks" near square_gradient whole line
done
ok 'loss prints the released form of the objective' \
    grep -q '"released":{.*"beta":25.0' line
ok 'loss prints the numbers of rows, negatives and views' \
    grep -q '"rows":48,"negatives":46,"views":2' line
ok 'loss of the convolutional encoder again' prints_line '"recipe":"cifar","seed":0' \
    loss --threads 1 conv set.tar
mv line whole
ok 'loss takes another --seed' \
    prints_line '"seed":1' loss --threads 1 --seed 1 conv set.tar
ok 'another --seed gives another loss' exits 1 near loss whole line
ok 'loss takes another --recipe' prints_line '"recipe":"cifar,hue=0"' \
    loss --threads 1 --recipe cifar,hue=0 conv set.tar
ok 'another --recipe gives another loss' exits 1 near loss whole line
ok 'loss takes three views' \
    prints_line '"rows":72,"negatives":69' loss --views 3 conv set.tar
ok 'loss of three views of a table exits with 1' \
    refuses 1 'a table of 2 views, there is no view 2' \
    "$eval" loss --views 3 table set.tar
"$BIN/foil-data" split -n 5 set.tar five.foil /dev/null
ok 'loss of a table with another number of images exits with 1' \
    refuses 1 'a table of 24 images, the data set has 5' \
    "$eval" loss table five.foil
ok 'loss --views 1 exits with 2' refuses 2 'want a whole number' \
    "$eval" loss --views 1 conv set.tar
ok 'an unknown recipe exits with 2' refuses 2 "no recipe 'soup': there are cifar" \
    "$eval" loss --recipe soup conv set.tar
ok 'a wrong field of a recipe exits with 2' \
    refuses 2 "hue is 'no', want a number in 0 .. 0.5" \
    "$eval" loss --recipe cifar,hue=no conv set.tar
ok 'loss without a checkpoint exits with 1' refuses 1 "no checkpoint|cannot" \
    "$eval" loss set.tar set.tar
ok 'loss of a damaged image exits with 1' refuses 1 'has changed' bash -c "
    cp set.tar bad.tar && '$BIN/foil-data' index bad.tar 2>/dev/null &&
    printf xxxx | dd of=bad.tar bs=1 seek=1900 conv=notrunc 2>/dev/null &&
    exec '$eval' loss conv bad.tar"

# pca: input of foil-train's --arch ,basis=
"$BIN/foil-embed" --raw --size 16 -o raw.npy set.tar 2>/dev/null
"$BIN/foil-embed" --raw --size 16 --recipe cifar -o view.npy set.tar 2>/dev/null
"$BIN/foil-embed" --raw --size 16 -o few.npy five.foil 2>/dev/null
ok 'foil-eval pca writes a basis' \
    prints_line '"measure":"pca",.*"components":5,"d":768,"rows":48' \
    pca -k 5 -o basis.npy raw.npy view.npy
ok 'the basis has five directions and the centre' grep -aq "'shape': (6, 768)" basis.npy
ok 'an encoder trains on the basis' trained based --arch linear,hidden=4 \
    --head none --arch ,basis=basis.npy
ok 'loss measures an encoder on the basis' \
    prints_line '"square_gradient":[0-9].*"basis":5' \
    loss --threads 1 based set.tar
ok 'pca --coordinates succeeds' \
    "$eval" pca -k 5 -o basis.npy --coordinates rows.npy raw.npy \
    view.npy
ok 'the coordinates have both views of each image' grep -aq "'shape': (48, 5)" rows.npy
ok 'an encoder trains on the coordinates' trained coordinates --arch rows,hidden=4 \
    --head none --arch ,rows=rows.npy
ok 'loss measures an encoder on the coordinates' \
    prints_line '"square_gradient":[0-9].*"basis":5' \
    loss --threads 1 coordinates set.tar

# pca --patch: input of --arch resnet8,basis=
# the_same BASIS RAW : NumPy finds the same directions of patches of 3x3 pixels
the_same() {
    /usr/bin/python3 - "$@" <<'END'
import sys
import numpy as np
ours, raw = (np.load(path).astype(float) for path in sys.argv[1:])
images = raw.reshape(len(raw), 16, 16, 3)
patch = np.array([image[y:y + 3, x:x + 3].ravel()
                  for image in images for y in range(14) for x in range(14)])
assert abs(ours[-1] - patch.mean(0)).max() < 1e-5
value, vector = np.linalg.eigh(np.cov(patch.T))
for mine, theirs in zip(ours[:-1], vector.T[::-1]):
    assert abs(abs(mine @ theirs) / np.linalg.norm(mine) - 1) < 1e-3
END
}
ok 'pca of patches succeeds' prints_line '"components":4,"d":27,"rows":4704' \
    pca --patch 3 -k 4 -o filters.npy raw.npy
if has_python numpy; then
    ok 'NumPy finds the same directions of patches' the_same filters.npy raw.npy
else
    skip 'NumPy finds the same directions of patches' 'no python3-numpy'
fi
ok 'a ResNet trains with these filters' trained filtered --arch resnet8,width=8 \
    --head none --arch ,basis=filters.npy
ok 'filters that are too few exit with 1' refuses 1 'the first layer wants 8 of 27' \
    trained few --arch resnet8,width=16 --head none --arch ,basis=filters.npy
ok 'filters without a norm exit with 2' refuses 2 'needs the norm batch or group' \
    "$BIN/foil-train" -r few --arch resnet8,width=8,norm=none,basis=filters.npy
ok 'pca of patches of no images exits with 1' refuses 1 'no square images' \
    "$eval" pca --patch 3 -k 4 -o b.npy rows.npy
ok 'pca of patches larger than the images exits with 1' refuses 1 'no square images' \
    "$eval" pca --patch 17 -k 4 -o b.npy raw.npy
ok 'pca of views of other images exits with 1' refuses 1 'same number of rows in each file' \
    "$eval" pca -k 2 -o b.npy --coordinates r.npy raw.npy few.npy
ok 'pca of more directions than rows exits with 1' refuses 1 'have no 25 components' \
    "$eval" pca -k 25 -o b.npy raw.npy
ok 'pca without -o exits with 2' refuses 2 'needs a file' "$eval" pca raw.npy
cp raw.npy copy.npy
ok 'pca -o on its input exits with 2' refuses 2 "'copy.npy' is an input" \
    "$eval" pca -k 2 -o copy.npy raw.npy ./copy.npy
ok 'pca --coordinates on its input exits with 2' refuses 2 "'copy.npy' is an input" \
    "$eval" pca -k 2 -o b.npy --coordinates copy.npy copy.npy
ok 'a refused pca does not change its input' cmp copy.npy raw.npy
ok 'pca to a full disk exits with 1' \
    refuses 1 'No space' "$eval" pca -k 5 -o /dev/full raw.npy
ok 'pca of files with other columns exits with 1' refuses 1 'has 5 columns' \
    "$eval" pca -k 2 -o b.npy raw.npy rows.npy

# results are added to results.jsonl of the run
"$BIN/foil-embed" -o trained.npy conv set.tar 2>/dev/null
"$BIN/foil-embed" --untrained -o untrained.npy conv set.tar 2>/dev/null
for run in raw untrained; do
    ok "results of $run features are not added to a run" bash -c "
        '$eval' knn -k 3 $run.npy && ! grep -q knn conv/results.jsonl"
done
ok 'foil-eval knn measures features of a checkpoint' \
    prints_line '"measure":"knn"' knn -k 3 trained.npy
# shellcheck disable=SC2016 # of jq
ok 'results.jsonl has the step and all printed fields' \
    jq -e --argjson printed "$(cat line)" \
    'select(.measure == "knn") | .step == 4 and .time > 1e9 and
    .accuracy == $printed.accuracy and .metric == "cosine"' conv/results.jsonl
ok 'results.jsonl has the loss of a checkpoint' \
    jq -es 'map(select(.measure == "loss")) | length > 1' conv/results.jsonl
results=$(wc -l <conv/results.jsonl)
ok 'geometry --no-record succeeds' \
    prints_line '"measure":"geometry"' geometry --no-record trained.npy
ok '--no-record adds no result' test "$(wc -l <conv/results.jsonl)" -eq "$results"
mv conv/step-00000004 gone
ok 'geometry names a checkpoint that was deleted' bash -c \
    "'$eval' geometry trained.npy 2>&1 >line | grep \"'conv' no longer has that check\""
ok 'geometry prints the result of a deleted checkpoint' \
    grep -q '"measure":"geometry"' line
mv gone conv/step-00000004

# temperature
ok 'an encoder with learnt temperatures trains' \
    trained warm --arch mlp,hidden=8 --head 4 \
    --objective isogclr,rho=0.1
ok 'foil-eval temperature prints mean and deviation' \
    prints_line '"column":"tau","mean":0.[0-9]*,"deviation":' \
    temperature --extreme 3 warm set.tar
ok 'temperature prints quantiles, counts and correlations' \
    bash -c "grep '\"0.5\":0' line |
    grep '\"counts\":\[' | grep '\"spearman\":' | grep -q class_spearman"
ok 'temperature prints each class' \
    grep -q '"classes":\[{"class":"0","size":3,"mean":0' line
ok 'temperature prints the number of samples' \
    grep -q '"samples":24,"unseen":0,"extreme":3' line
ok 'temperature --column takes another column' \
    prints_line '"column":"log_u"' temperature --column log_u warm set.tar
ok 'an unknown --column exits with 1' refuses 1 "has no 'heat' for each sample" \
    "$eval" temperature --column heat warm set.tar
ok 'temperature of an objective without temperatures exits with 1' \
    refuses 1 "has no 'tau'" \
    "$eval" temperature conv set.tar
ok 'temperature with other data exits with 1' \
    refuses 1 'is not the data set that the encoder was trained on' \
    "$eval" temperature warm five.foil
mkdir -p pictures
if command -v gnuplot >/dev/null; then
    ok 'temperature --plot succeeds' prints_line '"column":"tau"' \
        temperature --plot pictures/t.png warm set.tar
    ok 'the plot of temperatures is a PNG' \
        bash -c "head -c 4 pictures/t.png | grep -q PNG"
    cp pictures/t.png first.png
    ok 'the script of the plot draws the same plot again' bash -c \
        "cd pictures && gnuplot t.gp && cmp t.png ../first.png"
else
    skip 'a plot of temperatures' 'no gnuplot'
fi
ok '--plot without gnuplot exits with 1' refuses 1 "'pictures/u.gp' is its script" \
    env PATH=/nowhere "$eval" temperature --plot pictures/u.png warm set.tar
ok '--plot without gnuplot leaves its script' test -s pictures/u.gp

if has_python numpy; then
    own=cifar,hue=0,scale-min=0.5
    "$eval" loss --threads 1 --recipe $own linear set.tar >linear.line
    ok 'the loss of a linear encoder is that of the naive formula' \
        /usr/bin/python3 "$here/naive_loss.py" "$BIN/foil-embed" $own
    ok 'another recipe differs in all four figures' exits 4 \
        /usr/bin/python3 "$here/naive_loss.py" "$BIN/foil-embed" cifar
else
    skip 'the loss of a linear encoder is that of the naive formula' 'no python3-numpy'
fi

done_testing
