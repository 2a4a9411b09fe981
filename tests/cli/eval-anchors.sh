#!/usr/bin/env bash
# foil-eval anchors: of checkpoints and of plain features; what can be computed by hand.
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

# Three rows: 0 and 1 point the same way, 2 the other way.  Of row 0 the negatives have
# cosines 1 and -1, and at temperature 1 the first has e^2 / (e^2 + 1) = .880797.
zero=00000000 one=0000803f minus=000080bf
npy rows.npy '<f4' '3, 2' $one $zero $one $zero $minus $zero
npy rows.labels.npy '<i8' '3,' "$(int 0)" "$(int 0)" "$(int 1)"
ok 'one softmax' "$eval" anchors --anchor 0 --tau 1 rows.npy
# shellcheck disable=SC2016 # of jq
ok 'by hand' jq -es 'length == 3 and
    (.[0] | (.effective - 1.4410) * 1e3 | fabs < 1) and
    (.[1] | .sample == 1 and .rank == 1 and .cosine == 1 and
        (.p - .880797 | fabs < 1e-5) and .group == "0") and
    (.[2] | .sample == 2 and (.sum - 1 | fabs < 1e-5))' "$work/out"
ok 'all of them' says '"anchors":3,"rho":0.5' \
    anchors --rho 0.5 --tau 1 -o rows.csv rows.npy
# of row 2 both negatives are alike: its KL is 0 at any temperature
ok 'those that no temperature brings that far are counted' \
    grep -q '"unattainable":1,' line
# shellcheck disable=SC2016 # of awk
ok 'a line for each' awk -F, '
    NR == 1 { bad = $1 != "sample" || $NF != "own" }
    NR > 1 { n++ }
    NR == 2 { bad += ($NF - .8808) ^ 2 > 1e-7 || $4 <= 0 || $(NF - 1) != 2 }
    NR == 4 { bad += $4 != 0 || $NF != 0 || $7 - 2 > 1e-4 }
    END { exit bad || n != 3 }' rows.csv
npy warm.npy '<f4' '3,' $one $one $one
ok 'temperatures that were learnt elsewhere' says '"learnt":{"mean":1.0,' \
    anchors --learnt warm.npy rows.npy
ok 'other negatives want two views: 2' refuses 2 'wants two views' \
    "$eval" anchors --negatives cross rows.npy
ok 'with two views' says '"views":2,"d":2,"negatives":"cross"' \
    anchors --negatives cross rows.npy rows.npy
ok 'temperatures of others: 1' refuses 1 "'rows.npy' has 6 numbers" \
    "$eval" anchors --learnt rows.npy rows.npy
ok 'no such sample: 1' refuses 1 'no sample 7' "$eval" anchors --anchor 7 rows.npy
ok 'a sheet of unknown images: 2' refuses 2 'wants --images' \
    "$eval" anchors --sheet s.png rows.npy
ok 'views of features: 2' refuses 2 'not for features' \
    "$eval" anchors --views 3 rows.npy
ok 'a checkpoint without data: 2' refuses 2 'wants CHECKPOINT DATA' \
    "$eval" anchors run
npy row.npy '<f4' '1, 2' $one $zero
ok 'one row: 1' refuses 1 'want two or more' "$eval" anchors row.npy
ok 'views of other samples: 1' refuses 1 'has 3 rows and .row.npy. has 1' \
    "$eval" anchors rows.npy row.npy
npy pairs.npy '<f4' '2, 2' $one $zero $zero $one
npy pairs.ids.npy '<i8' '2,' "$(int 1)" "$(int 0)"
npy few.npy '<f4' '2, 2' $one $zero $zero $one
npy few.ids.npy '<i8' '2,' "$(int 1)" "$(int 2)"
ok 'a sample without its view: 1' refuses 1 "has no row of sample 0" \
    "$eval" anchors pairs.npy few.npy

small_set
ok 'an encoder with temperatures' trained warm --arch mlp,hidden=8 --head 4 \
    --objective isogclr,rho=0.1
ok 'is measured' says '"measure":"anchors","anchors":48,.*"learnt":{' \
    anchors --threads 1 --tau 0.2 --anchors 0 --sheet sheet.png -o warm.csv warm set.tar
ok 'class by class' grep -q '"classes":\[{"class":"0","size":3,"anchors":6' line
ok 'the sheet is a PNG' bash -c "head -c 4 sheet.png | grep -q PNG"
ok 'it becomes a result of the run' grep -q '"measure":"anchors"' warm/results.jsonl
mv line whole
for view in 0 1; do
    "$BIN/foil-embed" --layer z --recipe cifar --view $view -o $view.npy warm set.tar 2>/dev/null
done
ok 'the same rows as features' says '"measure":"anchors"' \
    anchors --threads 1 --tau 0.2 --anchors 0 --images set.tar --sheet same.png 0.npy 1.npy
# shellcheck disable=SC2016 # of jq
ok 'are as they were' jq -en --slurpfile a whole --slurpfile b line '
    def off(f): ($a[0] | f) - ($b[0] | f) | fabs;
    off(.exact.mean) < 1e-5 and off(.own.mean) < 1e-5 and off(.kl.high) < 1e-5'
ok 'of ten anchors' says '"anchors":10,' anchors --anchors 10 warm set.tar
if command -v gnuplot >/dev/null; then
    ok 'a picture' "$eval" anchors --plot all.png warm set.tar
    ok 'of one anchor, too' "$eval" anchors --anchor 3 --plot one.png warm set.tar
    ok 'both are PNG' bash -c "head -c 4 all.png | grep -q PNG &&
        head -c 4 one.png | grep -q PNG"
else
    skip 'pictures' 'no gnuplot'
fi
done_testing
