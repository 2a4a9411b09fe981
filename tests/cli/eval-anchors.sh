#!/usr/bin/env bash
# foil-eval anchors, of checkpoints and of features; results that are computed by hand.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
here=$(cd "${0%/*}" && pwd)
# shellcheck source=tests/npy.sh
. "$here/../npy.sh"
cd "$work" || exit 1

# Three rows: 0 and 1 have the same direction, 2 the opposite one.  The negatives of row 0
# have cosines 1 and -1; at temperature 1 the first has p = e^2 / (e^2 + 1) = .880797.
zero=00000000 one=0000803f minus=000080bf
npy rows.npy '<f4' '3, 2' $one $zero $one $zero $minus $zero
npy rows.labels.npy '<i8' '3,' "$(int 0)" "$(int 0)" "$(int 1)"
ok 'foil-eval anchors --anchor computes one softmax' \
    "$eval" anchors --anchor 0 --tau 1 rows.npy
# shellcheck disable=SC2016 # of jq
ok 'the softmax is the one computed by hand' jq -es 'length == 3 and
    (.[0] | (.effective - 1.4410) * 1e3 | fabs < 1) and
    (.[1] | .sample == 1 and .rank == 1 and .cosine == 1 and
        (.p - .880797 | fabs < 1e-5) and .group == "0") and
    (.[2] | .sample == 2 and (.sum - 1 | fabs < 1e-5))' "$work/out"
ok 'foil-eval anchors measures all anchors' prints_line '"anchors":3,"rho":0.5' \
    anchors --rho 0.5 --tau 1 -o rows.csv rows.npy
# both negatives of row 2 have the same cosine: its KL is 0 at any temperature
ok 'anchors that reach --rho at no temperature are counted' \
    grep -q '"unattainable":1,' line
# shellcheck disable=SC2016 # of awk
ok 'anchors -o writes a line for each anchor' awk -F, '
    NR == 1 { bad = $1 != "sample" || $NF != "same_class_weight" }
    NR > 1 { n++ }
    NR == 2 { bad += ($NF - .8808) ^ 2 > 1e-7 || $4 <= 0 || $(NF - 1) != 2 }
    NR == 4 { bad += $4 != 0 || $NF != 0 || $7 - 2 > 1e-4 }
    END { exit bad || n != 3 }' rows.csv
npy warm.npy '<f4' '3,' $one $one $one
ok 'anchors --learnt reads temperatures from a file' prints_line '"learnt":{"mean":1.0,' \
    anchors --learnt warm.npy rows.npy
ok '--negatives cross of one view exits with 2' refuses 2 'needs two views' \
    "$eval" anchors --negatives cross rows.npy
ok '--negatives cross takes two views' prints_line '"views":2,"d":2,"negatives":"cross"' \
    anchors --negatives cross rows.npy rows.npy
ok '--learnt with another number of rows exits with 1' \
    refuses 1 "'rows.npy' has 6 numbers" \
    "$eval" anchors --learnt rows.npy rows.npy
ok '--anchor of a missing sample exits with 1' \
    refuses 1 'no sample 7' "$eval" anchors --anchor 7 rows.npy
ok '--sheet without --images exits with 2' refuses 2 'needs --images' \
    "$eval" anchors --sheet s.png rows.npy
ok '--views of features exits with 2' refuses 2 'not for features' \
    "$eval" anchors --views 3 rows.npy
ok 'anchors of a checkpoint without data exits with 2' refuses 2 'needs CHECKPOINT DATA' \
    "$eval" anchors run
npy row.npy '<f4' '1, 2' $one $zero
ok 'anchors of one row exits with 1' \
    refuses 1 'want two or more' "$eval" anchors row.npy
ok 'views with other numbers of rows exit with 1' \
    refuses 1 'has 3 rows and .row.npy. has 1' \
    "$eval" anchors rows.npy row.npy
npy pairs.npy '<f4' '2, 2' $one $zero $zero $one
npy pairs.ids.npy '<i8' '2,' "$(int 1)" "$(int 0)"
npy few.npy '<f4' '2, 2' $one $zero $zero $one
npy few.ids.npy '<i8' '2,' "$(int 1)" "$(int 2)"
ok 'a sample without its second view exits with 1' refuses 1 "has no row of sample 0" \
    "$eval" anchors pairs.npy few.npy

small_set
ok 'an encoder with learnt temperatures trains' \
    trained warm --arch mlp,hidden=8 --head 4 \
    --objective isogclr,rho=0.1
ok 'foil-eval anchors measures a checkpoint' \
    prints_line '"measure":"anchors","anchors":48,.*"learnt":{' \
    anchors --threads 1 --tau 0.2 --anchors 0 --sheet sheet.png -o warm.csv warm set.tar
ok 'anchors prints each class' \
    grep -q '"classes":\[{"class":"0","size":3,"anchors":6' line
ok '--sheet writes a PNG' bash -c "head -c 4 sheet.png | grep -q PNG"
ok "the run's results.jsonl has the result of anchors" \
    grep -q '"measure":"anchors"' warm/results.jsonl
mv line whole
for view in 0 1; do
    "$BIN/foil-embed" --layer z --recipe cifar --view $view -o $view.npy warm set.tar 2>/dev/null
done
ok 'anchors measures the features of that checkpoint' prints_line '"measure":"anchors"' \
    anchors --threads 1 --tau 0.2 --anchors 0 --images set.tar --sheet same.png 0.npy 1.npy
# shellcheck disable=SC2016 # of jq
ok 'anchors of features are those of the checkpoint' \
    jq -en --slurpfile a whole --slurpfile b line '
    def off(f): ($a[0] | f) - ($b[0] | f) | fabs;
    off(.exact.mean) < 1e-5 and off(.same_class_weight.mean) < 1e-5 and off(.kl.high) < 1e-5'
ok '--anchors 10 measures ten anchors' \
    prints_line '"anchors":10,' anchors --anchors 10 warm set.tar
if command -v gnuplot >/dev/null; then
    ok 'anchors --plot draws all anchors' "$eval" anchors --plot all.png warm set.tar
    ok 'anchors --plot draws one anchor' \
        "$eval" anchors --anchor 3 --plot one.png warm set.tar
    ok 'both plots are PNG files' bash -c "head -c 4 all.png | grep -q PNG &&
        head -c 4 one.png | grep -q PNG"
else
    skip 'plots of anchors' 'no gnuplot'
fi
done_testing
