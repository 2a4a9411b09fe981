#!/usr/bin/env bash
# foil-eval as a user meets it, of files of features; eval-runs.sh is of encoders.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
here=$(cd "${0%/*}" && pwd)
# shellcheck source=tests/npy.sh
. "$here/../npy.sh"
terminal=$here/terminal.py

# In degrees the train rows point to 0, 90, 180 and the test rows to 27, 153;
# the longer ones are nearest to another row than the one they point to.
zero=00000000 one=0000803f two=00000040 minus=000080bf minus2=000000c0
nan=0000c07f
cd "$work" || exit 1
npy train.npy '<f4' '3, 2' $one $zero $zero $two $minus $zero
npy train.labels.npy '<i8' '3,' "$(int 0)" "$(int 1)" "$(int 0)"
npy test.npy '<f4' '2, 2' $two $one $minus2 $one
npy test.labels.npy '<i8' '2,' "$(int 0)" "$(int 1)"
npy nan.npy '<f4' '1, 2' $one $nan
npy wide.npy '<f4' '1, 3' $one $one $one
npy wide.labels.npy '<i8' '1,' "$(int 0)"
npy bare.npy '<f4' '2, 2' $two $one $minus2 $one
npy none.npy '<f4' '1, 2' $two $one
npy none.labels.npy '<i8' '1,' ffffffffffffffff

common foil-eval knn train.npy test.npy
ok 'cosine: one of two' says '"k":1,"accuracy":0.5,"weighted":0.5' \
    knn -k 1 train.npy test.npy
ok 'the protocol is in the line' grep -q \
    '"temperature":0.07,"metric":"cosine","ties":.*"leave_one_out":false' line
ok 'so are the files' grep -q '"n":3,"digest":"[0-9a-f]\{32\}"}' line
ok 'three neighbours: label 0 wins' says '"k":3,"accuracy":0.5' \
    knn -k 3 train.npy test.npy
ok 'a line for each k' bash -c \
    "test \$('$eval' knn -k 1,2,3 train.npy test.npy | wc -l) -eq 3"
ok 'Euclidean' says '"accuracy":0.5,"metric":"euclidean"' \
    knn -k 1 --metric euclidean train.npy test.npy
ok 'one file: each row by the others' says '"leave_one_out":true' \
    knn -k 2 train.npy
ok 'labels of another file' says '"accuracy":0.5' \
    knn -k 1 train.npy bare.npy --test-labels test.labels.npy
ok 'a probe' says '"measure":"probe","accuracy":' probe train.npy test.npy
ok 'with its grid' grep -q '"l2_grid":\[1.0,0.1' line
ok 'a fixed penalty' says '"l2":0.25,' probe --l2 0.25 train.npy test.npy
ok "a paper's probe" says '"protocol":"sogclr".*"rate":0.3' \
    probe --protocol sogclr train.npy test.npy
ok 'geometry' says '"cosine":-0.333333333' geometry train.npy
ok 'of no more than --rows rows' says '"rows":2,' geometry --rows 2 train.npy
ok 'of two views' says '"alignment":0.0' geometry test.npy bare.npy

# Classes are matched by name: TEST has b alone, which is 0 there.
npy only-b.npy '<f4' '1, 2' $zero $two
npy only-b.labels.npy '<i8' '1,' "$(int 0)"
cp train.npy named.npy
cp train.labels.npy named.labels.npy
printf 'a\nb\n' >named.classes
echo b >only-b.classes
ok 'a TEST that lacks a class is judged by the names of classes' \
    says '"accuracy":1.0,.*"matched":"names","unseen":0' \
    knn -k 1 named.npy only-b.npy
ok 'a probe matches by name, too' says '"accuracy":1.0,.*"matched":"names"' \
    probe --l2 .01 named.npy only-b.npy
ok 'a class that TRAIN does not have is refused by name: 1' refuses 1 \
    "2 rows of 'named.npy' are of classes that 'only-b.npy' does not have, such as 'a'" \
    "$eval" knn -k 1 only-b.npy named.npy
ok 'names on one side are refused: 1' refuses 1 \
    "'named.npy' has a file of class names and 'test.npy' has only numb" \
    "$eval" knn -k 1 named.npy test.npy
ok 'numbers are compared where both are given' \
    says '"accuracy":0.5,.*"matched":"numbers"' knn -k 1 \
    --labels named.labels.npy --test-labels test.labels.npy named.npy test.npy
printf '0\n1\n' >named.classes
ok 'names that are the numbers match them' says '"matched":"numbers"' \
    knn -k 1 named.npy test.npy
printf 'b\na\nc\n' >named.classes
printf 'c\n' >only-b.classes
ok 'rows of a class that TRAIN has no row of count as wrong' \
    says '"accuracy":0.0,.*"unseen":1' knn -k 1 named.npy only-b.npy
ok 'the class is named' bash -c "'$eval' knn -k 1 named.npy only-b.npy 2>&1 |
    grep \"no row of their classes, such as 'c'\""
ok 'no row is in both' says '"shared":0' knn -k 1 train.npy test.npy
ok 'rows that are in both are counted' says '"shared":3' \
    knn -k 1 train.npy train.npy
ok 'which is said' bash -c "'$eval' knn -k 1 train.npy train.npy 2>&1 |
    grep -F \"'train.npy': rows that are also in 'train.npy': 3 of 3\""
npy wide8.npy '<f8' '2, 1' 000000000000f03f0000000000000040
ok 'f8 is read, too' "$eval" geometry wide8.npy
npy train.labels8.npy '|b1' '3,' 000100
ok 'and labels of bool' \
    "$eval" knn -k 1 --labels train.labels8.npy train.npy
npy complex.npy '<c8' '1, 1' 000000000000f03f
ok 'others are refused with what to do: 1' \
    refuses 1 "items are <c8, .*astype\('i8'\) of labels" \
    "$eval" geometry complex.npy

npy zero.npy '<f4' '3, 2' $zero $zero $zero $zero $zero $zero
ok 'features that are all zero are collapsed, not evenly spread' \
    says '"uniformity":0.0,.*"collapsed":true,"zero_rows":3,' geometry zero.npy
ok 'that they are zero is said' bash -c \
    "'$eval' geometry zero.npy 2>&1 >/dev/null |
        grep 'collapsed: each of 3 rows is zero'"
npy equal.npy '<f4' '3, 2' $one $two $one $two $one $two
ok 'so are features that are all equal' \
    says '"dimensions":0.0,"collapsed":true,"zero_rows":0,' \
    geometry equal.npy
ok 'which is said, too' bash -c \
    "'$eval' geometry equal.npy 2>&1 >/dev/null |
        grep \"'equal.npy' has collapsed: each of 3 rows points the same way\""
ok 'others are not' says '"collapsed":false' geometry train.npy
echo '{"layer":"h"}' >train.json
ok 'where the features are from' says '"made":{"layer":"h"}' geometry train.npy

ok 'results into what describes the features: 1' refuses 1 'another name' \
    bash -c "'$eval' geometry equal.npy >equal.json"
rm equal.json
ok 'no measure: 2' refuses 2 'wants a verb' "$eval"
ok 'an unknown measure: 2' refuses 2 "no verb 'tsne'" "$eval" tsne train.npy
ok 'half a probe: 2' refuses 2 'wants TRAIN TEST' "$eval" probe train.npy
ok 'an option of another measure: 2' refuses 2 "no option '-k'" \
    "$eval" probe -k 1 train.npy test.npy
ok 'no list of numbers: 2' refuses 2 'is no list' \
    "$eval" knn -k 1,x train.npy test.npy
ok 'no such file: 1' refuses 1 "cannot open 'x.npy'" "$eval" geometry x.npy
ok 'no labels: 1' refuses 1 'has no labels' "$eval" knn -k 1 bare.npy
ok 'a sample without a class: 1' refuses 1 "row 0 of 'none.npy' has the label" \
    "$eval" knn -k 1 train.npy none.npy
ok 'another width: 1' refuses 1 'has 2 columns' \
    "$eval" knn -k 1 train.npy wide.npy
ok 'too few rows: 1' refuses 1 'cannot find 3 neighbours among 2' \
    "$eval" knn -k 3 train.npy
ok 'not a number: 1' refuses 1 'holds -?nan in row 0' "$eval" geometry nan.npy
ok 'a full disk: 1' exits 1 \
    bash -c "exec '$eval' geometry train.npy >/dev/full"

# retrieve: the rows of `far` swap places, those of `test` find themselves
npy far.npy '<f4' '2, 2' $minus2 $one $two $one
npy groups.npy '<i8' '2,' "$(int 4)" "$(int 9)"
npy test.ids.npy '<i8' '2,' "$(int 0)" "$(int 1)"
ok 'a view finds itself' says '"forward":{"r1":1.0,.*"backward":{"r1":1.0' \
    retrieve test.npy bare.npy
ok 'by chance one of two would' grep -q '"chance":0.5,"ties":"half"' line
ok 'swapped rows find nothing' says \
    '"r1":0.0,"r5":1.0,"r10":1.0,"mrr":0.5,"mean_rank":2.0,"median_rank":2.0' \
    retrieve test.npy far.npy
ok 'but each in a group of its own' says '"r1":1.0.*"chance":1.0.*"groups":2' \
    retrieve --within groups.npy test.npy far.npy
ok 'raw products' says '"metric":"raw","forward":{"r1":1.0' \
    retrieve --metric raw test.npy bare.npy
ok 'views of other shapes: 1' refuses 1 'differ in shape' \
    "$eval" retrieve train.npy test.npy
ok 'groups of other rows: 1' refuses 1 'groups.npy' \
    "$eval" retrieve --within groups.npy train.npy train.npy
npy far.ids.npy '<i8' '2,' "$(int 0)" "$(int 2)"
ok 'other samples: 1' refuses 1 'row 1 is sample 1 in .test.npy. and 2 in' \
    "$eval" retrieve test.npy far.npy

# captions: image 5 has two, image 6 one, which equals the first of image 5
npy pics.npy '<f4' '2, 2' $one $zero $zero $one
npy pics.ids.npy '<i8' '2,' "$(int 5)" "$(int 6)"
npy words.npy '<f4' '3, 2' $zero $one $one $zero $zero $one
npy words.ids.npy '<i8' '3,' "$(int 5)" "$(int 5)" "$(int 6)"
ok 'captions: one of two suffices; of equal ones half' \
    says '"rule":"strict","image_to_text":{"r1":0.5,"r5":1.0.*"mrr":0.83' \
    retrieve --captions pics.npy words.npy
ok 'without groups that is the only rule' test "$(wc -l <line)" -eq 1
npy words.same.npy '<i8' '3,' "$(int 0)" "$(int 1)" "$(int 0)"
"$eval" retrieve --captions pics.npy words.npy >line
ok 'captions of one group answer as one' grep -q \
    '"rule":"equal","image_to_text":{"r1":1.0.*"text_to_image":{"r1":1.0' line
ok 'the strict rule is beside it' grep -q '"rule":"strict"' line
ok 'chance counts the answers' grep -q '"chance":0.8333' line
npy words.ids.npy '<i8' '3,' "$(int 5)" "$(int 5)" "$(int 7)"
"$eval" retrieve --captions pics.npy words.npy >line
ok 'a caption of no image is left out, and counted' \
    grep -q '"rule":"strict".*"queries":2,"left_out":1' line
rm words.ids.npy
ok 'captions without ids: 1' refuses 1 "'words.npy' has no .ids.npy" \
    "$eval" retrieve --captions pics.npy words.npy
ok '--captions with --within: 2' refuses 2 'goes without --within' \
    "$eval" retrieve --captions --within groups.npy pics.npy words.npy

# on_terminal COLUMNS ARG... : what is printed on a terminal of that width
on_terminal() {
    local columns=$1
    shift
    /usr/bin/python3 "$terminal" "$columns" 24 -- "$eval" "$@" |
        sed 's/\r$//; s/.*\x1b\[K//' >screen
    cat screen
    awk -v most="$columns" 'length > most { exit 1 }' screen
}
ok 'a terminal gets a table' on_terminal 60 knn -k 1,2 train.npy
# shellcheck disable=SC2016 # of awk
ok 'with its head and a row for each result' awk '
    $1 != (NR == 1 ? "measure" : "knn") || NF != 5 { bad = 1 }
    END { exit bad || NR != 3 }' screen
ok 'figures that have no room are below' on_terminal 60 \
    retrieve test.npy bare.npy
ok 'all of them' test "$(grep -c '^retrieve' screen)" -ge 2
# shellcheck disable=SC2016 # of awk
ok 'both directions are rows, in words' awk '/^backward +[0-9. ]+$/ { rows++ }
    /mean rank/ { words++ } /_|[a-z][.][a-z]/ { bad = 1 } END { exit bad || !rows || !words }' \
    screen
ok '--json is for both' on_terminal 4000 knn --json -k 1 train.npy
ok 'a line' grep -q '^{"measure":"knn"' screen

if has_python sklearn; then
    ok 'agrees with scikit-learn' /usr/bin/python3 "$here/sklearn_peer.py" "$eval"
else
    skip 'agrees with scikit-learn' 'no python3-sklearn'
fi
done_testing
