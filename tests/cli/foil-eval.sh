#!/usr/bin/env bash
# foil-eval as a user meets it.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
eval=$BIN/foil-eval
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

# says PATTERN ARG... : exit 0 and one line with the pattern
says() {
    local pattern=$1
    shift
    "$eval" "$@" >line || return
    cat line
    test "$(wc -l <line)" -eq 1 && grep -q -- "$pattern" line
}

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
    "'named.npy' has names of its classes beside it and 'test.npy' has only numb" \
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

# loss: of encoders that a run of a few steps has left
"$BIN/foil-data" generate -o set.tar --size 16 24 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
# trained DIR OPTION... : a run directory with a checkpoint
trained() {
    local run=$1
    shift
    "$BIN/foil-augment" -r "$run" --size 16 set.tar 2>"$run.augment" &
    "$BIN/foil-select" -r "$run" --batch 12 --epochs 2 set.tar 2>"$run.select" &
    "$BIN/foil-train" -r "$run" --threads 1 --deadline 60 "$@"
}
ok 'a convolutional encoder' trained conv --arch resnet8 --width 8 --head 24-8-bn
ok 'a linear one' trained linear --arch linear --hidden 6 --head none
ok 'a table' trained table --arch table --hidden 6 --head none
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
ok 'is what an encoder is trained on' trained based --arch linear --hidden 4 \
    --head none --basis basis.npy
ok 'and measured on' says '"square_gradient":[0-9].*"basis":5' \
    loss --threads 1 based set.tar
ok 'coordinates' "$eval" pca -k 5 -o basis.npy --coordinates rows.npy raw.npy \
    view.npy
ok 'of both views of each image' grep -aq "'shape': (48, 5)" rows.npy
ok 'are what an encoder is trained on' trained given --arch rows --hidden 4 \
    --head none --rows rows.npy
ok 'and measured on' says '"square_gradient":[0-9].*"basis":5' \
    loss --threads 1 given set.tar
ok 'views of other images: 1' refuses 1 'as many rows in each file' \
    "$eval" pca -k 2 -o b.npy --coordinates r.npy raw.npy few.npy
ok 'more directions than rows: 1' refuses 1 'have no 25 components' \
    "$eval" pca -k 25 -o b.npy raw.npy
ok 'no -o: 2' refuses 2 'wants a file' "$eval" pca raw.npy
ok 'a full disk: 1' refuses 1 'No space' "$eval" pca -k 5 -o /dev/full raw.npy
ok 'other columns: 1' refuses 1 'has 2 columns' \
    "$eval" pca -k 2 -o b.npy raw.npy train.npy

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
lines=$(wc -l <conv/results.jsonl)
ok '--no-record' says '"measure":"geometry"' geometry --no-record trained.npy
ok 'keeps one out' test "$(wc -l <conv/results.jsonl)" -eq "$lines"
mv conv/step-00000004 gone
ok 'a checkpoint that is gone is named, and the result printed' bash -c \
    "'$eval' geometry trained.npy 2>&1 >line | grep \"'conv' has no such check\""
ok 'whole' grep -q '"measure":"geometry"' line
mv gone conv/step-00000004

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
ok 'all of them' test "$(grep -c '^retrieve' screen)" -ge 3
ok '--json is for both' on_terminal 4000 knn --json -k 1 train.npy
ok 'a line' grep -q '^{"measure":"knn"' screen

# follow: a run whose checkpoints all stay
"$BIN/foil-data" split --share 0.5 set.tar half.foil other.foil 2>/dev/null
# probed RUN : the steps whose probe is in the results
probed() {
    jq -r 'select(.measure == "probe") | .step' "$1/results.jsonl" | xargs
}
ok 'a run of four checkpoints' trained curve --arch linear --hidden 6 \
    --head none --checkpoint-every 1 --keep 9
ok 'is followed to its end' bash -c \
    "'$eval' follow -r curve -k 1,3 half.foil other.foil >curve.jsonl"
ok 'a line each, from the oldest' test "$(jq .step curve.jsonl | xargs)" = '1 2 3 4'
ok 'their results are in the run' test "$(probed curve)" = '1 2 3 4'
ok 'with all neighbours' test "$(jq -r 'select(.measure == "knn") |
    "\(.step):\(.k)"' curve/results.jsonl | xargs)" = \
    '1:1 1:3 2:1 2:3 3:1 3:3 4:1 4:3'
ok 'best is the first with the highest accuracy' test "$(readlink curve/best)" = \
    "$(jq -rs 'max_by([.knn, -.step]) | "step-0000000\(.step)"' curve.jsonl)"
ok 'nothing else is left in it' test ! -e curve/follow -a ! -e curve/judging
ok 'again, there is nothing to do' bash -c \
    "test -z \"\$('$eval' follow -r curve half.foil other.foil)\""
sed -i '/"measure":"probe","step":2/d; /"step":4/d' curve/results.jsonl
ok 'what has no result yet is judged' bash -c \
    "'$eval' follow -r curve -k 1,3 half.foil other.foil >again.jsonl"
ok 'and only that' test "$(jq .step again.jsonl | xargs)" = '2 4'
ok 'with the same figures' diff <(grep -E '"step":[24]' curve.jsonl |
    jq -c 'del(.best)') <(jq -c 'del(.best)' again.jsonl)
ok 'other data are another matter' bash -c \
    "'$eval' follow -r curve --once other.foil half.foil | wc -l | grep -x 4"
ok 'a run that is not there: 1' refuses 1 "there is no run 'nowhere'" \
    "$eval" follow -r nowhere half.foil other.foil
ok 'no run: 2' refuses 2 '-r is missing' "$eval" follow half.foil other.foil

# and one in training, whose old checkpoints go; as from another machine: the
# folder by another name, events by tcp, and the end of the run by its last word
mkdir -m 700 live
ln -s live shared
events=$(endpoint 0)
"$eval" follow -r shared --events "$events" half.foil other.foil \
    >live.jsonl 2>live.said &
follower=$!
ok 'a follower waits for its run' becomes_true test -e live/follow
ok 'at the lowest priority' test "$(cut -d ' ' -f 19 "/proc/$follower/stat")" -eq 19
ok 'which has one: 1' refuses 1 "another foil-eval follows 'live'" \
    "$eval" follow -r live half.foil other.foil
"$BIN/foil-augment" -r live --size 16 set.tar 2>live.augment &
"$BIN/foil-select" -r live --batch 12 --epochs 1000000 set.tar 2>live.select &
"$BIN/foil-train" -r live --events "$events" --threads 1 \
    --arch linear --hidden 6 --head none --checkpoint-every 100 --keep 2 \
    2>live.train &
trainer=$!
three_judged() {
    test "$(wc -l <live.jsonl)" -ge 3
}
ok 'while it trains, checkpoints are judged' becomes_true three_judged
kill "$trainer"
wait "$trainer"
ok 'the follower ends with the run' wait "$follower"
cat live.said
# shellcheck disable=SC2016 # of bash
ok 'and has judged the last' bash -c \
    'test "$(readlink live/latest)" = \
    "$(tail -n 1 live.jsonl | jq -r ".step | tostring |
    \"step-\" + (\"00000000\" + .)[-8:]")"'
# shellcheck disable=SC2016 # of bash
ok 'the best is there, beside the two newest and one that was judged' bash -c \
    'test -e live/best/MANIFEST.json && test "$(ls -d live/step-* | wc -l)" -le 4'

# killed while it judges, and started again
rm curve/results.jsonl
"$eval" follow -r curve half.foil other.foil >/dev/null 2>&1 &
follower=$!
becomes_true grep -qs probe curve/results.jsonl
kill -9 "$follower"
wait "$follower" 2>/dev/null
ok 'what was killed can be started again' \
    "$eval" follow -r curve half.foil other.foil
ok 'and misses nothing' test "$(probed curve | tr ' ' '\n' | sort -u | xargs)" = \
    '1 2 3 4'
"$eval" follow -r conv half.foil other.foil >/dev/null 2>&1 &
follower=$!
becomes_true test -e conv/judging
kill "$follower"
ok 'SIGTERM ends it well' wait "$follower"
ok 'and leaves nothing behind' test ! -e conv/follow -a ! -e conv/judging

# captions: what a run with an encoder of texts is judged by
"$BIN/foil-data" index set.tar 2>/dev/null
"$BIN/foil-data" vocabulary -o words.txt set.tar 2>/dev/null
"$BIN/foil-augment" -r said --size 16 --views 1 --vocabulary words.txt set.tar \
    2>said.augment &
"$BIN/foil-select" -r said --batch 12 --epochs 2 set.tar 2>said.select &
ok 'a run of images and captions' "$BIN/foil-train" -r said --threads 1 \
    --deadline 60 --arch resnet8 --width 4 --text bow:8 --embed 8 \
    --vocabulary words.txt --objective clip --checkpoint-every 1 --keep 9
wait
ok 'is followed, without a set that is learnt from' bash -c \
    "'$eval' follow -r said set.tar >said.jsonl"
ok 'by the recalls of captions' test "$(jq -s 'map(keys) | unique | add |
    join(" ")' said.jsonl)" = '"best captions step"'
ok 'the best is the first with the highest mean of them' test \
    "$(readlink said/best)" = \
    "$(jq -rs 'max_by([.captions, -.step]) | "step-0000000\(.step)"' said.jsonl)"
ok 'again, there is nothing to do' bash -c \
    "test -z \"\$('$eval' follow -r said set.tar)\""
ok 'with labels, by these, too' test "$("$eval" follow -r said --once -k 1 half.foil \
    other.foil | jq -s 'map(keys) | unique | add | join(" ")')" = \
    '"best captions knn probe step"'
ok 'foil runs shows the mean' bash -c \
    "'$BIN/foil-runs' said | jq -e '.results.captions.r_mean | numbers'"
ok 'no labels, no best by them: 1' refuses 1 'nothing for --best knn' \
    "$eval" follow -r said --best knn set.tar

# temperature
ok 'an encoder with temperatures' trained warm --arch mlp --hidden 8 --head 4 \
    --objective isogclr --rho 0.1
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
ok 'other data: 1' refuses 1 'is not what the encoder was trained on' \
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

if has_python sklearn; then
    ok 'agrees with scikit-learn' /usr/bin/python3 "$here/sklearn_peer.py" "$eval"
else
    skip 'agrees with scikit-learn' 'no python3-sklearn'
fi
done_testing
