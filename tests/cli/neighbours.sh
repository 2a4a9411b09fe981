#!/usr/bin/env bash
# The nearest neighbours of images, as lists and as a sheet.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/npy.sh
. "${0%/*}/../npy.sh"
eval=$BIN/foil-eval data=$BIN/foil-data
cd "$work" || exit 1

# ---------------------------------------------------------------------- lists

# In degrees the train rows point to 0, 90, 180, the test rows to 27, 153.
zero=00000000 one=0000803f two=00000040 minus=000080bf minus2=000000c0
npy train.npy '<f4' '3, 2' $one $zero $zero $two $minus $zero
npy bare.npy '<f4' '2, 2' $two $one $minus2 $one
npy wide.npy '<f4' '1, 3' $one $one $one

# neighbours WANT ARG... : prints these lines, with spaces for tabs
neighbours() {
    local want=$1 got
    got=$("$eval" neighbours "${@:2}" | tr '\t\n' ' /')
    test "$got" = "$want" || { echo "got '$got'"; return 1; }
}
ok 'neighbours prints a list for each row' neighbours '0 0 1/1 2 1/' \
    -k 2 train.npy bare.npy
ok 'neighbours of one file prints the other rows' neighbours '0 1/1 0/2 1/' -k 1 train.npy
ok 'neighbours takes --metric euclidean' \
    neighbours '0 2/1 0/2 0/' -k 1 --metric euclidean \
    train.npy
ok 'neighbours needs no labels' neighbours '0 1/1 0/' \
    -k 1 bare.npy
cp bare.npy numbered.npy
npy numbered.ids.npy '<i8' '2,' "$(int 7)" "$(int 5)"
ok 'neighbours prints ids of samples' neighbours '0 7/1 7/2 5/' -k 1 \
    numbered.npy train.npy
ok 'more neighbours than rows exit with 1' refuses 1 'find 2 neighbours among 1 row: want a smaller -k$' \
    "$eval" neighbours -k 2 bare.npy
ok 'neighbours of rows of another width exits with 1' \
    refuses 1 "'train.npy' has 2 columns and 'wide.*3" \
    "$eval" neighbours -k 1 train.npy wide.npy

# -------------------------------------------------------------------- a sheet

"$data" generate -o a.tar --size 16 40 2>/dev/null
"$data" index a.tar 2>/dev/null
# lists LINE... : draws a sheet of these lists, of the samples of a.tar and b.foil
"$data" split -n 30 a.tar b.foil /dev/null
lists() {
    printf '%s\n' "$@" | "$data" sheet -o lists.png --size 8 a.tar b.foil
}
ok 'sheet draws lists of samples' lists $'29\t39 0' 3
ok 'the sheet has two rows of one image and two neighbours' test "$(
    od -An -tu1 -j16 -N8 lists.png | tr -s ' ' | xargs)" = \
    "0 0 1 $((2 * 12 + 3 * 96 + 2 * 12 - 256)) 0 0 1 $((3 * 12 + 2 * (96 + 4 + 14) - 256))"
"$data" cat a.tar 0 >p.jpg
"$data" cat a.tar 1 >q.jpg
printf '%s\n' p.jpg$'\t'ant q.jpg$'\t'ant >same.list
printf '%s\n' p.jpg$'\t'ant q.jpg$'\t'bee >other.list
printf '%s\n' p.jpg q.jpg >bare.list
printf '%s\n' p.jpg$'\t'bee >bee.list
printf '%s\n' p.jpg$'\t'bee q.jpg$'\t'bee >bees.list
for list in same other bare bee bees; do
    "$data" index $list.list 2>/dev/null
done
# framed NAME TRAIN [TEST] : draws a sheet of sample 0 and its neighbour 1
framed() {
    echo 0 1 | "$data" sheet -o "$1.png" "${@:2}"
}
ok 'sheet draws samples of one class, of two classes and without' \
    eval 'framed same same.list &&
    framed other other.list && framed bare bare.list'
ok 'the three sheets have different frames' test "$(cksum same.png other.png bare.png |
    cut -d ' ' -f1 | sort -u | wc -l)" -eq 3
ok 'the sheet has the class below an image that has one' test "$(
    od -An -tu1 -j20 -N4 same.png | xargs) $(
    od -An -tu1 -j20 -N4 bare.png | xargs)" = \
    "0 0 0 $((2 * 12 + 96 + 4 + 14)) 0 0 0 $((2 * 12 + 96))"
ok 'sheet matches classes of two sets by name' eval \
    'framed match other.list bee.list &&
    framed bees bees.list && cmp match.png bees.png'
ok 'sheet of a missing sample of TEST exits with 1' \
    refuses 1 "line 2 of the lists has '30'.* 0 to 29" \
    lists '29 1' '30 1'
ok 'sheet of a missing sample of TRAIN exits with 1' \
    refuses 1 "has '40': want .* 0 to 39" lists '3 40'
ok 'sheet of a negative sample number exits with 1' \
    refuses 1 "line 1 of the lists has '-1'" lists '3 -1'
ok 'sheet with an empty line exits with 1' \
    refuses 1 'line 2 of the lists is empty' lists 1 '' 2
ok 'sheet without lists exits with 1' refuses 1 'there are no lists' \
    bash -c "'$data' sheet -o lists.png a.tar </dev/null"
ok 'sheet without -o exits with 2' refuses 2 'name the picture with -o' \
    "$data" sheet a.tar
ok 'a sheet that is too large exits with 2' \
    refuses 2 'the sheet would have [0-9]* x 10[0-9]* pixels' bash -c \
    "seq 0 199 | sed 's/.*/1/' | '$data' sheet -o x.png --size 512 --rows 999 a.tar"
"$BIN/foil-embed" --raw --size 8 -o a.npy a.tar
ok 'sheet reads the output of neighbours' bash -c \
    "'$eval' neighbours a.npy | '$data' sheet -o near.png a.tar"
ok 'sheet writes a PNG' grep -q PNG near.png
done_testing
