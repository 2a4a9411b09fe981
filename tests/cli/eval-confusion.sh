#!/usr/bin/env bash
# foil-eval knn --confusion is compared with all distances by numpy, probe --confusion
# with its accuracy, geometry --histogram with all cosines; their plots and errors.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1

if ! has_python numpy || ! command -v gnuplot >/dev/null; then
    skip 'confusion matrices' 'no python3-numpy, or no gnuplot'
    done_testing
    exit
fi
/usr/bin/python3 "$here/confusion.py" make
for options in '' '--metric euclidean'; do
    # shellcheck disable=SC2086 # options are words
    ok "knn --confusion ${options#--} succeeds" foil-eval knn -k 3,1 $options \
        --confusion seen.png train.npy test.npy
    cp out line
    ok "knn --confusion ${options#--} is that of all distances" /usr/bin/python3 \
        "$here/confusion.py" check seen.gp line "$options"
    ok "knn --confusion ${options#--} is a PNG" \
        test "$(head -c 4 seen.png | tail -c 3)" = PNG
done
ok 'names of classes are quoted in the script of the plot' grep -q 'a \\"b\\"' seen.gp
ok 'knn --confusion compares each row of one file with the others' \
    foil-eval knn -k 3 --confusion seen.png train.npy
cp out line
ok 'knn --confusion of one file is that of all distances' \
    /usr/bin/python3 "$here/confusion.py" check seen.gp line alone
ok 'without --confusion, knn prints no share for each class' \
    bash -c "foil-eval knn -k 1 train.npy test.npy |
    jq -e '.by_class == null'"
/usr/bin/python3 "$here/confusion.py" many
ok 'knn --confusion of 1001 classes exits with 1' \
    refuses 1 'a picture of 1001 classes would show nothing' \
    foil-eval knn -k 1 --confusion many.png many.npy
ok 'knn --confusion of too many classes leaves no file' test ! -e many.png -a ! -e many.gp
ok 'knn --confusion in a missing folder exits with 1' \
    refuses 1 'nowhere/x' foil-eval knn -k 1 \
    --confusion nowhere/x.png --no-record train.npy

for protocol in lbfgs isogclr sogclr; do
    ok "probe --confusion succeeds, $protocol" foil-eval probe --protocol "$protocol" \
        --confusion seen.png train.npy test.npy
    tail -n 1 out >line
    ok "the confusion matrix of the probe has its accuracy, $protocol" \
        /usr/bin/python3 "$here/confusion.py" probe seen.gp line
done

# ------------------------------------------------------------- cosines of pairs
ok 'geometry --histogram of two views succeeds' \
    foil-eval geometry --histogram pairs.png test.npy \
    view.npy
ok 'the histogram of two views is that of all cosines' \
    /usr/bin/python3 "$here/confusion.py" cosines pairs.gp 2
ok 'the histogram of two views is a PNG' test "$(head -c 4 pairs.png | tail -c 3)" = PNG
ok 'geometry --histogram of one file succeeds' \
    foil-eval geometry --histogram rows.png test.npy
ok 'the histogram of one file is that of all pairs of rows' \
    /usr/bin/python3 "$here/confusion.py" cosines rows.gp 1
ok 'geometry --rows --histogram succeeds' \
    foil-eval geometry --rows 10 --histogram rows.png test.npy view.npy
# shellcheck disable=SC2016 # awk's
ok 'the histogram with --rows 10 has the cosines of ten rows' \
    awk '/^END/ { on = 0 } on { own += $2; n += $3 }
    /<< END/ { on = 1 } END { exit own != 10 || n != 90 }' rows.gp
done_testing
