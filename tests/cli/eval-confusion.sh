#!/usr/bin/env bash
# foil-eval knn --confusion: which class is taken for which, against all distances by
# numpy; probe --confusion against its accuracy; geometry --histogram: how cosines are distributed, against all of them; their
# pictures, and what is refused.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1

if ! has_python numpy || ! command -v gnuplot >/dev/null; then
    skip 'a confusion matrix' 'no python3-numpy, or no gnuplot'
    done_testing
    exit
fi
/usr/bin/python3 "$here/confusion.py" make
for options in '' '--metric euclidean'; do
    # shellcheck disable=SC2086 # options are words
    ok "a confusion matrix ${options#--}" foil-eval knn -k 3,1 $options \
        --confusion seen.png train.npy test.npy
    cp out line
    ok 'is that of all distances, by the first K' /usr/bin/python3 \
        "$here/confusion.py" check seen.gp line "$options"
    ok 'and a picture' test "$(head -c 4 seen.png | tail -c 3)" = PNG
done
ok 'names are but text' grep -q 'a \\"b\\"' seen.gp
ok 'one file: each row by the others' foil-eval knn -k 3 --confusion seen.png train.npy
cp out line
ok 'is right, too' /usr/bin/python3 "$here/confusion.py" check seen.gp line alone
ok 'without it no class has a share' bash -c "foil-eval knn -k 1 train.npy test.npy |
    jq -e '.by_class == null'"
/usr/bin/python3 "$here/confusion.py" many
ok 'too many classes: 1' refuses 1 'a picture of 1001 classes would show nothing' \
    foil-eval knn -k 1 --confusion many.png many.npy
ok 'of which nothing is drawn' test ! -e many.png -a ! -e many.gp
ok 'no place for it: 1' refuses 1 'nowhere/x' foil-eval knn -k 1 \
    --confusion nowhere/x.png --no-record train.npy

for protocol in lbfgs isogclr sogclr; do
    ok "a confusion matrix of a probe, $protocol" foil-eval probe --protocol "$protocol" \
        --confusion seen.png train.npy test.npy
    tail -n 1 out >line
    ok 'has its accuracy' /usr/bin/python3 "$here/confusion.py" probe seen.gp line
done

# ------------------------------------------------------------- cosines of pairs
ok 'a histogram of two views' foil-eval geometry --histogram pairs.png test.npy \
    view.npy
ok 'is that of all cosines' /usr/bin/python3 "$here/confusion.py" cosines pairs.gp 2
ok 'and a picture' test "$(head -c 4 pairs.png | tail -c 3)" = PNG
ok 'one of a file' foil-eval geometry --histogram rows.png test.npy
ok 'is that of all pairs of rows' /usr/bin/python3 "$here/confusion.py" cosines rows.gp 1
ok 'of fewer rows' foil-eval geometry --rows 10 --histogram rows.png test.npy view.npy
# shellcheck disable=SC2016 # awk's
ok 'it is of these' awk '/^END/ { on = 0 } on { own += $2; n += $3 }
    /<< END/ { on = 1 } END { exit own != 10 || n != 90 }' rows.gp
done_testing
