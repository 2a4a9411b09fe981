#!/usr/bin/env bash
# foil-eval for its users, on files of features; eval-runs.sh has encoders.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/eval.sh
. "${0%/*}/../eval.sh"
here=$(cd "${0%/*}" && pwd)
# shellcheck source=tests/npy.sh
. "$here/../npy.sh"
terminal=$here/terminal.py

# In degrees the train rows point to 0, 90, 180, the test rows to 27, 153.  By Euclidean
# distance, the longer ones are nearest to another row than by angle.
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
ok 'knn by cosine finds one of two' prints_line '"k":1,"accuracy":0.5,"weighted":0.5' \
    knn -k 1 train.npy test.npy
ok 'knn prints temperature, metric and leave_one_out' grep -q \
    '"temperature":0.07,"metric":"cosine","ties":.*"leave_one_out":false' line
ok 'knn prints size and digest of its files' \
    grep -q '"n":3,"digest":"[0-9a-f]\{32\}"}' line
ok 'knn -k 3 predicts the majority' prints_line '"k":3,"accuracy":0.5' \
    knn -k 3 train.npy test.npy
ok 'knn -k 1,2,3 prints a line for each' bash -c \
    "test \$('$eval' knn -k 1,2,3 train.npy test.npy | wc -l) -eq 3"
ok 'knn --metric euclidean finds one of two' \
    prints_line '"accuracy":0.5,"metric":"euclidean"' \
    knn -k 1 --metric euclidean train.npy test.npy
ok 'knn of one file leaves each row out' prints_line '"leave_one_out":true' \
    knn -k 2 train.npy
ok 'knn --test-labels reads labels of another file' prints_line '"accuracy":0.5' \
    knn -k 1 train.npy bare.npy --test-labels test.labels.npy
ok 'probe prints its accuracy' \
    prints_line '"measure":"probe","accuracy":' probe train.npy test.npy
ok 'probe prints its grid of penalties' grep -q '"l2_grid":\[1.0,0.1' line
ok 'probe --l2 takes a fixed penalty' \
    prints_line '"l2":0.25,' probe --l2 0.25 train.npy test.npy
ok "probe --protocol sogclr trains" prints_line '"protocol":"sogclr".*"rate":0.3' \
    probe --protocol sogclr train.npy test.npy
ok 'geometry prints the mean cosine' \
    prints_line '"cosine":-0.333333333' geometry train.npy
ok 'geometry --rows takes that many rows' \
    prints_line '"rows":2,' geometry --rows 2 train.npy
ok 'geometry of two views prints the alignment' \
    prints_line '"alignment":0.0' geometry test.npy bare.npy

# Classes are matched by name: TEST has only b, which has the number 0 there.
npy only-b.npy '<f4' '1, 2' $zero $two
npy only-b.labels.npy '<i8' '1,' "$(int 0)"
cp train.npy named.npy
cp train.labels.npy named.labels.npy
printf 'a\nb\n' >named.classes
echo b >only-b.classes
ok 'knn of a TEST without one class matches by name' \
    prints_line '"accuracy":1.0,.*"matched":"names","unseen":0' \
    knn -k 1 named.npy only-b.npy
ok 'probe matches classes by name' prints_line '"accuracy":1.0,.*"matched":"names"' \
    probe --l2 .01 named.npy only-b.npy
ok 'knn of a class that TRAIN does not have exits with 1 and names it' refuses 1 \
    "2 rows of 'named.npy' are of classes that 'only-b.npy' does not have, such as 'a'" \
    "$eval" knn -k 1 only-b.npy named.npy
ok 'knn with names of classes on one side exits with 1' refuses 1 \
    "'named.npy' has a file of class names and 'test.npy' has only numb" \
    "$eval" knn -k 1 named.npy test.npy
ok 'knn with --labels and --test-labels compares numbers' \
    prints_line '"accuracy":0.5,.*"matched":"numbers"' knn -k 1 \
    --labels named.labels.npy --test-labels test.labels.npy named.npy test.npy
printf '0\n1\n' >named.classes
ok 'names of classes that are numbers match numbers' prints_line '"matched":"numbers"' \
    knn -k 1 named.npy test.npy
printf 'b\na\nc\n' >named.classes
printf 'c\n' >only-b.classes
ok 'rows of a class without rows in TRAIN count as wrong' \
    prints_line '"accuracy":0.0,.*"unseen":1' knn -k 1 named.npy only-b.npy
ok 'knn names a class without rows in TRAIN' \
    bash -c "'$eval' knn -k 1 named.npy only-b.npy 2>&1 |
    grep \"no row of their classes, such as 'c'\""
ok 'knn prints that no row is in both files' \
    prints_line '"shared":0' knn -k 1 train.npy test.npy
ok 'knn counts rows that are in both files' prints_line '"shared":3' \
    knn -k 1 train.npy train.npy
ok 'knn reports rows that are in both files' \
    bash -c "'$eval' knn -k 1 train.npy train.npy 2>&1 |
    grep -F \"'train.npy': rows that are also in 'train.npy': 3 of 3\""
npy wide8.npy '<f8' '2, 1' 000000000000f03f0000000000000040
ok 'geometry reads f8' "$eval" geometry wide8.npy
npy train.labels8.npy '|b1' '3,' 000100
ok 'knn reads labels of bool' \
    "$eval" knn -k 1 --labels train.labels8.npy train.npy
npy complex.npy '<c8' '1, 1' 000000000000f03f
ok 'an array of complex numbers exits with 1 and says what to do' \
    refuses 1 "items are <c8, .*astype\('i8'\) of labels" \
    "$eval" geometry complex.npy

npy zero.npy '<f4' '3, 2' $zero $zero $zero $zero $zero $zero
ok 'geometry of features that are all zero is collapsed' \
    prints_line '"uniformity":0.0,.*"collapsed":true,"zero_rows":3,' geometry zero.npy
ok 'geometry reports that all rows are zero' bash -c \
    "'$eval' geometry zero.npy 2>&1 >/dev/null |
        grep 'collapsed: each of 3 rows is zero'"
npy equal.npy '<f4' '3, 2' $one $two $one $two $one $two
ok 'geometry of features that are all equal is collapsed' \
    prints_line '"dimensions":0.0,"collapsed":true,"zero_rows":0,' \
    geometry equal.npy
ok 'geometry reports that all rows are equal' bash -c \
    "'$eval' geometry equal.npy 2>&1 >/dev/null |
        grep \"'equal.npy' has collapsed: each of 3 rows points the same way\""
ok 'geometry of other features is not collapsed' \
    prints_line '"collapsed":false' geometry train.npy
echo '{"layer":"h"}' >train.json
ok 'geometry prints how the features were made' \
    prints_line '"made":{"layer":"h"}' geometry train.npy

ok 'output to the .json of the features exits with 1' refuses 1 'another name' \
    bash -c "'$eval' geometry equal.npy >equal.json"
rm equal.json
ok 'foil-eval without a verb exits with 2' refuses 2 'needs a verb' "$eval"
ok 'foil-eval with an unknown verb exits with 2' \
    refuses 2 "no verb 'tsne'" "$eval" tsne train.npy
ok 'probe of one file exits with 2' refuses 2 'needs TRAIN TEST' "$eval" probe train.npy
ok 'an option of another verb exits with 2' refuses 2 "no option '-k'" \
    "$eval" probe -k 1 train.npy test.npy
ok '-k with an invalid list exits with 2' refuses 2 'is no list' \
    "$eval" knn -k 1,x train.npy test.npy
ok 'a missing file exits with 1' refuses 1 "cannot open 'x.npy'" "$eval" geometry x.npy
ok 'knn without labels exits with 1' refuses 1 'has no labels' "$eval" knn -k 1 bare.npy
ok 'a row with label -1 exits with 1' refuses 1 "row 0 of 'none.npy' has the label" \
    "$eval" knn -k 1 train.npy none.npy
ok 'files of different widths exit with 1' refuses 1 'has 2 columns' \
    "$eval" knn -k 1 train.npy wide.npy
ok 'fewer rows than neighbours exit with 1' refuses 1 'cannot find 3 neighbours among 2' \
    "$eval" knn -k 3 train.npy
ok 'a row with nan exits with 1' refuses 1 'holds -?nan in row 0' "$eval" geometry nan.npy
ok 'output to a full disk exits with 1' exits 1 \
    bash -c "exec '$eval' geometry train.npy >/dev/full"

# retrieve: in `far`, the rows are swapped; in `test`, each row finds itself
npy far.npy '<f4' '2, 2' $minus2 $one $two $one
npy groups.npy '<i8' '2,' "$(int 4)" "$(int 9)"
npy test.ids.npy '<i8' '2,' "$(int 0)" "$(int 1)"
ok 'retrieve finds each view itself' \
    prints_line '"forward":{"r1":1.0,.*"backward":{"r1":1.0' \
    retrieve test.npy bare.npy
ok 'retrieve prints the recall by chance' grep -q '"chance":0.5,"ties":"half"' line
ok 'retrieve of swapped rows finds none' prints_line \
    '"r1":0.0,"r5":1.0,"r10":1.0,"mrr":0.5,"mean_rank":2.0,"median_rank":2.0' \
    retrieve test.npy far.npy
ok 'retrieve --within finds each row in its own group' \
    prints_line '"r1":1.0.*"chance":1.0.*"groups":2' \
    retrieve --within groups.npy test.npy far.npy
ok 'retrieve --metric raw uses products' \
    prints_line '"metric":"raw","forward":{"r1":1.0' \
    retrieve --metric raw test.npy bare.npy
ok 'retrieve of views with other shapes exits with 1' refuses 1 'differ in shape' \
    "$eval" retrieve train.npy test.npy
ok 'retrieve --within of other rows exits with 1' refuses 1 'groups.npy' \
    "$eval" retrieve --within groups.npy train.npy train.npy
npy far.ids.npy '<i8' '2,' "$(int 0)" "$(int 2)"
ok 'retrieve of other samples exits with 1' \
    refuses 1 'row 1 is sample 1 in .test.npy. and 2 in' \
    "$eval" retrieve test.npy far.npy

# captions: image 5 has two; image 6 has one, which equals the first of image 5
npy pics.npy '<f4' '2, 2' $one $zero $zero $one
npy pics.ids.npy '<i8' '2,' "$(int 5)" "$(int 6)"
npy words.npy '<f4' '3, 2' $zero $one $one $zero $zero $one
npy words.ids.npy '<i8' '3,' "$(int 5)" "$(int 5)" "$(int 6)"
ok 'retrieve --captions counts the best caption, equal ones half' \
    prints_line '"rule":"strict","image_to_text":{"r1":0.5,"r5":1.0.*"mrr":0.83' \
    retrieve --captions pics.npy words.npy
ok 'retrieve --captions without groups prints the strict rule only' \
    test "$(wc -l <line)" -eq 1
npy words.same.npy '<i8' '3,' "$(int 0)" "$(int 1)" "$(int 0)"
"$eval" retrieve --captions pics.npy words.npy >line
ok 'retrieve --captions by the equal rule accepts all of a group' grep -q \
    '"rule":"equal","image_to_text":{"r1":1.0.*"text_to_image":{"r1":1.0' line
ok 'retrieve --captions prints the strict rule, too' grep -q '"rule":"strict"' line
ok 'the recall by chance counts the accepted captions' grep -q '"chance":0.8333' line
npy words.ids.npy '<i8' '3,' "$(int 5)" "$(int 5)" "$(int 7)"
"$eval" retrieve --captions pics.npy words.npy >line
ok 'a caption without an image is left out and counted' \
    grep -q '"rule":"strict".*"queries":2,"left_out":1' line
rm words.ids.npy
ok 'retrieve --captions without ids exits with 1' \
    refuses 1 "'words.npy' has no .ids.npy" \
    "$eval" retrieve --captions pics.npy words.npy
ok 'retrieve --captions --within exits with 2' refuses 2 'goes without --within' \
    "$eval" retrieve --captions --within groups.npy pics.npy words.npy

# on_terminal COLUMNS ARG... : runs foil-eval on a terminal of that width
on_terminal() {
    local columns=$1
    shift
    /usr/bin/python3 "$terminal" "$columns" 24 -- "$eval" "$@" |
        sed 's/\r$//; s/.*\x1b\[K//' >screen
    cat screen
    awk -v most="$columns" 'length > most { exit 1 }' screen
}
ok 'foil-eval prints a table on a terminal' on_terminal 60 knn -k 1,2 train.npy
# shellcheck disable=SC2016 # of awk
ok 'the table has a heading and a row for each result' awk '
    $1 != (NR == 1 ? "measure" : "knn") || NF != 5 { bad = 1 }
    END { exit bad || NR != 3 }' screen
ok 'foil-eval on a narrow terminal prints further tables below' on_terminal 60 \
    retrieve test.npy bare.npy
ok 'a narrow terminal has all tables' test "$(grep -c '^retrieve' screen)" -ge 2
# shellcheck disable=SC2016 # of awk
ok 'both directions are rows with readable headings' \
    awk '/^backward +[0-9. ]+$/ { rows++ }
    /mean rank/ { words++ } /_|[a-z][.][a-z]/ { bad = 1 } END { exit bad || !rows || !words }' \
    screen
ok '--json on a terminal succeeds' on_terminal 4000 knn --json -k 1 train.npy
ok '--json on a terminal prints a line of JSON' grep -q '^{"measure":"knn"' screen

if has_python sklearn; then
    ok 'knn and probe agree with scikit-learn' \
        /usr/bin/python3 "$here/sklearn_peer.py" "$eval"
else
    skip 'knn and probe agree with scikit-learn' 'no python3-sklearn'
fi
done_testing
