#!/usr/bin/env bash
# What `foil run` does with real stages: every objective by any pipeline, a run
# that remembers its command, starts that are refused and leave nothing.
# Not for sanitizers: pipelines, their stages are in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1

foil-data generate -o set.tar 32 2>/dev/null && foil-data index set.tar 2>/dev/null
foil-data split --share 0.5 set.tar train.foil test.foil 2>/dev/null
tiny=(--augmenters 1 --threads 1 --augment '--size 8')
net='--arch linear --head 16-9'

# simclr RUN ARG... : a run of seconds at most, what it says in $work/said
simclr() {
    local code=0
    timeout -k 5 "$patience" foil run simclr -r "$@" 2>said || code=$?
    cat said
    return "$code"
}

# ------------------------------------------- objectives and strategies

foil-train --list objectives >objectives.json
foil-select --list strategies >strategies.json
ok 'objectives are listed as JSON, with a sentence each' \
    jq -es 'length > 10 and all(.name and .summary and (.defaults | .tau))' \
    objectives.json
ok 'strategies too' \
    jq -es 'length > 5 and all(.name and .summary and (.features != null))' \
    strategies.json
declare -A served kept # whether by a service; for how many epochs
while read -r name want; do
    objective+=("$name") served[$name]=$want
done < <(jq -r '"\(.name) \(.negatives != null)"' objectives.json)
while read -r name want; do
    strategy+=("$name") kept[$name]=$want
done < <(jq -r '"\(.name) \(.keep_features)"' strategies.json)

# Each objective with a strategy, so that each strategy has its turn.
train_each() {
    local i
    for i in "${!objective[@]}"; do
        timeout -k 5 "$patience" foil run simclr train.foil -r "each-$i" --epochs 1 \
            --batch 8 --objective "${objective[i]}" --train "$net" "${tiny[@]}" \
            --select "--strategy ${strategy[i % ${#strategy[@]}]},draws=9" \
            >"each-$i.said" 2>&1 &
        [[ $((i % 4)) -ne 3 ]] || wait
    done
    wait
}
train_each

# as_listed I STRATEGY : the run had the stages and features that the tables
# ask for
as_listed() {
    local run=each-$1 name=${objective[$1]} service=false
    cat "$run.said"
    [[ ! -e $run/log/negatives.log ]] || service=true
    test "$service" = "${served[$name]}" || return
    test "$(jq -r '.options | "\(.objective) \(.["keep-features"])"' \
        "$run/latest/config.json")" = "$name ${kept[$2]}"
}
for i in "${!objective[@]}"; do
    planned=${strategy[i % ${#strategy[@]}]}
    ok "'foil run' trains by ${objective[i]} with a plan of $planned, as listed" \
        as_listed "$i" "$planned"
done

ok '--train takes the objective, too' simclr by-train train.foil --epochs 1 \
    --batch 8 --train "$net --objective hcl" "${tiny[@]}"
ok 'with defaults of its own' \
    jq -e '.options | .objective == "hcl" and .tau == 0.5 and .beta == 0.5' \
    by-train/latest/config.json
ok 'another objective does not get the tau of emc2' timeout "$patience" foil run emc2 \
    -r other train.foil --epochs 1 --batch 8 --objective dcl --train "$net" \
    "${tiny[@]}"
ok 'but its own' jq -e '.options.tau == 0.1' other/latest/config.json

# -------------------------------------------------------------- warm-up

ok 'pipelines warm up for a tenth of a short run' \
    jq -e '.options.warmup == 0.1' by-train/latest/config.json
ok 'a warm-up longer than the run is refused: 1' exits 1 simclr long \
    train.foil --epochs 2 --train "$net --warmup 5" "${tiny[@]}"
ok 'with what to do about it' \
    grep -q -- '--warmup is 5 epochs and the run has 2.*--warmup 0.2' said

# ------------------------------------------------------ a run in two parts

asked=(train.foil test.foil --epochs 150 --batch 8 --seed 3 --objective sogclr
    "${tiny[@]}" --train "$net --lr 0.1 --checkpoint-every 7")
ok 'a run to its end' simclr whole "${asked[@]}"
ok 'says in the end where everything is' \
    grep -q "run is over: 'whole' has .*results.jsonl" said

# stopped RUN : by SIGTERM in its middle; on a machine that is busy the run may come
# to its end before that, and then another one is begun, three times
stopped() {
    local try pid code
    for try in 1 2 3 4; do
        code=0
        foil run simclr -r "$1" "${asked[@]}" 2>"$1.said" &
        pid=$!
        becomes_true past "$1" 20
        kill -TERM "$pid"
        wait "$pid" || code=$?
        past "$1" 300 || return "$code"
        echo "over before SIGTERM: try $try"
        rm -r "$1"
    done
    return 1
}
past() {
    [[ -e $1/metrics.jsonl && $(wc -l <"$1/metrics.jsonl") -ge $2 ]]
}
same_bits() {
    local name
    for name in model head optim samples; do
        cmp "$1/latest/$name.safetensors" "$2/latest/$name.safetensors" ||
            return
    done
    test "$(wc -l <"$1/metrics.jsonl")" -eq "$(wc -l <"$2/metrics.jsonl")"
}
ok 'SIGTERM in its middle: 143' exits 143 stopped parts
ok 'and how to go on' grep -q "'foil run --resume -r parts' continues" parts.said
ok 'a run remembers its command' grep -qx 'epochs 150' parts/command
# shellcheck disable=SC2016 # of bash
ok '--resume needs nothing else, from anywhere' bash -c \
    'mkdir -p away && cd away && foil run --resume -r ../parts 2>../said'
ok 'says what it goes on with, in a line' grep -qE \
    "continues after step [0-9]+, in epoch [0-9]+: sogclr, 16 images" said
ok 'and ends with the same bits' same_bits whole parts
# shellcheck disable=SC2016 # of jq
ok 'and the same results' jq -es '[.[] | select(.measure == "probe")] |
    length == 2 and .[0].accuracy == .[1].accuracy' {whole,parts}/results.jsonl

# those that a run starts leave new endpoints and write to their logs
feeders() {
    find parts/plan parts/log -printf '%p %i %T@\n' | sort
}
feeders >before
ok 'a finished run, resumed: 0' timeout "$patience" foil run --resume -r parts
ok 'says in one line that it is, and where everything is' \
    test "$(grep -c "was over before.*'parts' has " out)/$(wc -l <out)" = 1/1
ok 'starts no feeder' cmp before <(feeders)

# ------------------------------------------------- the command of another run

options_of() {
    jq -c '.options | del(.seed, .lr)' "$1/latest/config.json"
}
ok '--config takes the command of another run' simclr told --config \
    whole/command --seed 4 --train "$net --lr 0.3"
ok 'with all of its options' test "$(options_of told)" = "$(options_of whole)"
ok 'but those that are given' jq -e '.options | .lr == 0.3 and .seed == 4' \
    told/latest/config.json
ok 'and the same data, which were judged' grep -q '"measure":"probe"' \
    told/results.jsonl
echo 'epohcs 3' >wrong
ok 'a wrong name in it is refused: 2' exits 2 simclr wrong-name train.foil \
    --config wrong
ok 'by its name' grep -q "'wrong', line 1: 'epohcs'" said
ok 'a file that is not there: 1' exits 1 simclr wrong-name train.foil \
    --config nothing

# ----------------------------------------------- said again, and otherwise

ok 'what is said again may be the same' simclr parts train.foil --resume \
    --batch 8 --lr 0.1 --size 8
# refused_by WORDS... : to be resumed with these; and its command stays
refused_by() {
    local code=0
    cp parts/command command
    simclr parts --resume "$@" || code=$?
    cmp command parts/command || return
    return "$code"
}
ok 'another batch is refused: 1' exits 1 refused_by --batch 4
ok 'by name' grep -qx "foil run simclr: --batch is 4, but 8 in this run: leave \
it out, or add --override batch" said
ok 'another number of threads' exits 1 refused_by --threads 2
ok 'another size of views' exits 1 refused_by --size 16
ok 'by its name' grep -q -- "--augment is --size 16, but --size 8 in this run" said
both() {
    simclr parts --resume --stages --override augment --recipe cifar
}
ok 'what is said replaces what has its name, and nothing else' eval \
    "both | grep -q -- '^augment .*--size 8 --recipe cifar '"
ok 'another data set' exits 1 refused_by test.foil
ok 'by its name' grep -q 'DATA is .*test.foil, but .*train.foil .*override DATA' \
    said
ok 'what foil-train remembers' exits 1 refused_by --lr 0.2
ok 'in its words' grep -q 'foil-train: --lr is 0.2, but 0.1 in the checkpoint' \
    said
ok 'another pipeline' exits 1 timeout "$patience" foil run emc2 --resume -r parts
ok '--override without --resume: 2' refuses 2 'belongs to --resume' \
    foil run simclr set.tar -r new --override batch
ok 'an override of what nobody remembers: 2' exits 2 refused_by \
    --override nonsense
ok 'another number of augmenters is the same run' simclr parts --resume \
    --augmenters 2
ok 'more epochs, and another rate, by override' simclr parts --resume \
    --epochs 151 --lr 0.05 --override epochs --override lr
ok 'are trained' test "$(tail -n 1 parts/metrics.jsonl | jq .epoch)" -eq 150
ok 'and remembered' grep -qx 'epochs 151' parts/command
rm parts/command
ok 'a run of an older foil goes on' simclr parts train.foil --resume \
    --batch 8 --seed 3 --objective sogclr --epochs 152 "${tiny[@]}" \
    --train '--lr 0.05'
ok 'and says what it lacks' grep -q 'older foil.*does not remember' said
odd=$'a\\nb\nc.tar'
cp set.tar "$odd"
ok 'a path with a new line and a backslash' simclr odd "$odd" --epochs 1 \
    --batch 8 --train "$net" "${tiny[@]}"
ok 'is remembered' simclr odd --resume --epochs 2 --override epochs

# --------------------------------------------------- classes of TEST and TRAIN

foil-data cat set.tar 0 >image.jpg
printf '%s\n' 'image.jpg,07' 'image.jpg,1' 'image.jpg,1' >known.csv
printf '%s\n' 'image.jpg,07' 'image.jpg,new one' >other.csv
printf '%s\n' 'image.jpg,7' >same.csv
printf '%s\n' 'image.jpg,7' 'image.jpg,' >stray.csv
for list in known other same stray; do
    foil-data index $list.csv 2>/dev/null
done
ok 'a class that the training set lacks is refused before anything starts: 1' \
    refuses 1 "'other.csv' has images of the class 'new one', which 'known.csv'" \
    foil run simclr known.csv other.csv -r new
ok 'nothing is made' exits 1 test -e new
ok 'so is an image without a label: 1' refuses 1 \
    "images of 'stray.csv' without a label: 1; nothing can be judged" \
    foil run simclr known.csv stray.csv -r new
ok 'one that has the same number is known' foil run simclr known.csv same.csv \
    -r new --batch 2 --stages
ok 'that it is trained on is said' \
    grep -q "1 of 1 images of 'same.csv' are in 'known.csv', too" out

# ---------------------------------------------- stages of the user's own

own=(train.foil --epochs 3 --batch 8 --train "$net --lr 0.1" "${tiny[@]}")
ok 'a run by the tools' simclr tools "${own[@]}"
ok '--stages prints the list of it' simclr listed "${own[@]}" --stages
cp out list
ok 'also where stages are told what is the option of all' simclr listed \
    train.foil --augmenters 1 --augment '--size 8' \
    --train "$net --lr 0.1 --threads=1" \
    --select '--epochs 3 --batch 8' --stages
ok 'it is the same list' cmp out list
ok 'an option told both ways is refused: 2' refuses 2 '--epochs is given twice' \
    foil run simclr train.foil -r listed --epochs 3 --select '--epochs 3'
for columns in 60 100; do
    /usr/bin/python3 "$here/terminal.py" "$columns" 60 -- foil run clip --help |
        tr -d '\r' >screen
    ok "--help fits a terminal of $columns columns" \
        test "$(wc -L <screen)" -le "$columns"
    ok 'with every word' test "$(xargs -d '\n' <screen | tr -s ' ')" = \
        "$(foil run clip --help | xargs -d '\n' | tr -s ' ')"
done
ok '-h is --help' bash -c "foil run simclr -h | grep '^usage: foil run simclr'"
ok 'a line for each' test "$(awk '!/^#/ && NF { print $1 }' list |
    paste -sd ' ')" = 'train augment select'
ok 'and makes no folder' exits 1 test -e listed
ok 'the list may be run by itself' foil run ./list -r listed
ok 'the list may be run by itself, to the same bits' same_bits tools listed
ok 'a stage may have another command in front of its tool' simclr nice \
    "${own[@]}" --train-command 'nice -n 1 foil-train' \
    --augment-command 'env A=b foil-augment' \
    --select-command "sh -c 'exec foil-select \"\$@\"' sh"
ok 'a stage may have another command in front of its tool, to the same bits' same_bits tools nice
ok 'which a run remembers' grep -qx 'train-command nice -n 1 foil-train' \
    nice/command
ok 'another one is refused: 1' exits 1 simclr nice --resume \
    --train-command foil-train
ok 'by its option' grep -q \
    "train-command is foil-train, but nice -n 1 foil-train in this run" said
ok 'options of a tool behind another command are judged' exits 2 simclr new \
    "${own[@]}" --train-command 'nice -n 1 foil-train' --train=--nonsense
ok 'nothing is made' exits 1 test -e new
# A wrong option of any stage is refused before any is started, by that stage.
while read -r stage pattern options; do
    ok "$stage $options is refused" refuses "${pattern%%:*}" "${pattern#*:}" \
        foil run emc2 train.foil test.foil -r new --epochs 1 --batch 8 \
        --train "$net" "${tiny[@]::4}" "--$stage" "$options"
    ok 'nothing is made' exits 1 test -e new
done <<'END'
select 2:foil-select:.*--remainder --remainder=neither
negatives 2:foil-negatives:.*--command-limit --command-limit=3
negatives 2:foil-negatives:.*--beta --beta=-3
augment 1:foil-augment.makes.6.views.*takes.2:.want.--views.2 -v 6
augment 2:foil-augment:.*no.recipe.'cifr' --recipe cifr
embed 2:foil-embed:.*no.option.'--nonsense' --nonsense
embed 2:foil-embed:.*no.recipe.'cifr' --recipe cifr
END
ok 'a command that weighs takes the place of the method and its images' \
    timeout 60 foil run emc2 train.foil -r weighed --epochs 1 --batch 8 \
    --train "$net" "${tiny[@]}" \
    --weigh-command "perl '$here/../../pipelines/commands/weigh.pl'"
ok 'and is asked in each step' jq -se 'length == 2 and all(.alone | not)' \
    weighed/metrics.jsonl
ok 'a command that is not there is refused: 1' exits 1 simclr new \
    "${own[@]}" --negatives-command nope --objective emc2
ok 'by name' grep -q "^foil run simclr: .*no command 'nope' for 'negatives'" said
ok 'nothing is made' exits 1 test -e new
cat >mine.py <<'end'
import json, os, sys
json.dump([os.environ["RUN"], sys.argv[1:]], open("mine.json", "w"))
end
ok 'a trainer of the user'\''s own' simclr mine "${own[@]}" \
    --train-command '/usr/bin/python3 mine.py --mine' --train '--its-own 3'
ok 'has the options of ours, and those meant for it' jq -e '.[0] == "mine" and
    (.[1] | .[0] == "--mine" and index("-r") and index("simclr") and
    .[-2:] == ["--its-own", "3"])' mine.json
ok 'a failing one: its exit code' exits 4 simclr fails "${own[@]}" \
    --train-command "sh -c 'exit 4'"

# ----------------------------------------------- what to do is in the sentence

while read -r ours theirs; do
    ok "$theirs is $ours" refuses 2 "no option '$theirs': it is ${ours/_/ }\$" \
        foil run simclr train.foil -r new "$theirs" 1
done <<'END'
--lr --learning-rate
--lr --learning_rate
--objective_,tau=X --temperature
--batch --batch-size
--augmenters --workers
--augmenters --num-workers
--epochs --num-epochs
--arch --model
END
ok 'there is no device to choose' refuses 2 "no option '--device': .*processors" \
    foil run simclr train.foil -r new --device cuda
ok 'nor by a flag' refuses 2 "no option '--gpu': .*leave it out" \
    foil train -r new --gpu
ok 'an option given twice is said with both values' refuses 2 \
    "lr is given twice: as '1' and as '2'" foil train -r new --lr 1 --lr=2
ok 'also where one is within --train' refuses 2 "given twice: as '1' and as '2'" \
    foil run simclr train.foil -r new --lr 1 --train '--lr 2'
mkdir -p photos
ok 'a folder that is no run' refuses 1 "'photos' is no run of 'foil run'.*or start a run" \
    foil run --resume -r photos
ok 'nor for a pipeline' refuses 1 "'photos' is no run: .*without --resume" \
    timeout 60 foil run simclr train.foil --resume -r photos
cp -r whole moved
sed -i 's/^DATA .*/DATA \/nowhere\/train.foil/' moved/command
ok 'data that are not there any more' refuses 1 \
    "no '/nowhere/train.foil'.* PLACE --resume -r moved --override DATA" \
    foil run --resume -r moved
echo >>moved/latest/model.safetensors
last=$(readlink moved/latest)
ok 'a damaged checkpoint' refuses 1 "'rm -r moved/$last' and --resume continue after step" \
    foil run simclr train.foil --resume -r moved --override DATA
ok 'the only one' refuses 1 'no other checkpoint' bash -c "
    ls -d moved/step-* | grep -v $last | xargs rm -r
    foil run simclr train.foil --resume -r moved --override DATA"
ok 'a picture as data' refuses 1 "'image.jpg' is not a tar.*want a tar, a folder" \
    foil data index image.jpg
ok 'a folder as features' refuses 1 "'photos/' is a folder.*foil embed" \
    foil eval knn photos/
ok 'blocks of nothing' refuses 1 'want block=2 or more' \
    foil run spectral train.foil -r new --strategy spectral,block=0
ok 'nothing is made' exits 1 test -e new
ok 'foil top RUN' foil top whole --once
ok 'is as with -r' cmp out <(foil top -r whole --once)
ok 'foil view RUN' foil view whole --export whole.html
ok 'foil stop RUN' refuses 3 "no trainer runs in 'whole'" foil stop whole
ok 'and with -r' refuses 3 "no trainer runs in 'whole'" foil stop -r whole
ok 'one that is named both ways is refused' refuses 2 \
    "run is given twice: as 'whole' and as 'parts'" foil view -r whole parts
foil tap whole 2>tapped &
tap=$!
ok 'foil tap RUN waits for its events' becomes_true \
    grep -q "no message from 'ipc://whole/events'" tapped
kill "$tap"
wait "$tap"

# options of stages that stand for themselves
listed() {
    foil run simclr train.foil -r new --stages --lr .1 --max-batch=64 --optim ,no-nesterov \
        --train.objective ,tau=.3 --window 4 --size 20 --augment.plan 'ipc://a b' --layer z |
        grep "^$1 "
}
ok 'go to the one that has them, in place of the defaults' eval \
    "listed train | grep -q 'objective simclr,tau=.3 .* 500 --warmup 5 --lr .1\
 --max-batch 64 --optim ,no-nesterov --window 4$' && listed augment | grep -q -- '1 --size 20 --plan .ipc://a b. '"
ok 'none of several stages: 2' refuses 2 \
    'several stages have --tau: use one of --select.tau --train.tau' \
    foil run simclr train.foil -r new --tau .1
ok 'none that the stage has: 2' refuses 2 "no option '--train.block'" \
    foil run simclr train.foil -r new --train.block 3
ok 'a word that is mistyped: 2' refuses 2 "no option '--wimdow': did you mean '--window'" \
    foil run simclr train.foil -r new --wimdow 3
ok 'a value for what has none: 2' refuses 2 '--partial takes no value' \
    foil run simclr train.foil -r new --partial=3
ok 'without its value: 2' refuses 2 '--lr wants a value' \
    foil run simclr train.foil -r new --lr
ok '--stages of a pipeline that makes its data: 2' refuses 2 "wants the pipeline's data" \
    foil run quickstart -r new --stages
ok 'quickstart' timeout 200 foil run quickstart -r quick --epochs 1 --augmenters 1 --threads 1
ok 'ends on a pipe in a sentence' grep -qxE \
    'The 10 nearest .*: accuracy 0?\.[0-9]+, where guessing has 0.125.' out
ok 'and prints no line above 200 characters' awk 'length > 200 { exit 1 }' out
ok 'the whole result is kept' jq -e '.measure == "knn" and .k == 10' quick/knn.json
examples=$(cd "$here/../../pipelines/examples" && pwd)
if has_python numpy; then
    ok 'a strategy of another kind' simclr python "${own[@]}" \
        --train '--keep-features 2' \
        --select "--strategy-command '/usr/bin/python3 $examples/../python/curriculum.py train.foil'"
    ok 'trains as many steps' past python 6
    ok 'the example of a list' env DATA=train.foil PATH="$PATH" bash -c \
        "ln -s '${examples%/*}' . && foil run ./pipelines/examples/python.list"
    ok 'trains its ten epochs' past run/python 10
else
    skip 'a strategy in Python' 'no python3-numpy'
fi

# ------------------------------------------------------------- a living run

# second RUN ARG... : a second start of a living run changes nothing in it
second() {
    local run=$1 code=0
    shift
    find "$run/log" "$run/command" -type f -exec cksum {} + >before
    cp living.said living.before
    timeout "$patience" foil run "$@" -r "$run" 2>said || code=$?
    cat said
    find "$run/log" "$run/command" -type f -exec cksum {} + | cmp before - &&
        cmp living.said living.before && return "$code"
}
foil run simclr train.foil -r living --epochs 1000000 --batch 8 \
    --train "$net" "${tiny[@]}" 2>living.said &
living=$!
becomes_true past living 50
ok 'a second --resume of a living run: 1' exits 1 second living --resume
ok 'and why' grep -q "another foil run uses 'living'" said
ok 'a second start' exits 1 second living simclr train.foil
kill -TERM "$living"
wait "$living"
mkdir lone
foil-train -r lone 2>/dev/null &
lone=$!
: >living.said
becomes_true test -e lone/batch
mkdir lone/log
touch lone/command
ok 'a run whose trainer was started by hand: 1' exits 1 second lone \
    simclr train.foil
ok 'and why' grep -q "another foil-train has 'lone'" said
kill "$lone"
wait "$lone" 2>/dev/null

# -------------------------------------------------- nothing is left behind

# leaves_nothing CODE PATTERN ARG... : refused, and no folder
leaves_nothing() {
    exits "$1" simclr new "${@:3}" || return
    grep -E -- "$2" said || return
    ! test -e new
}
ok 'no such data: no folder' leaves_nothing 1 "cannot open 'nope'" nope
ok 'no such objective' leaves_nothing 2 "no objective 'nope'" set.tar \
    --objective nope
ok 'a wrong option of the trainer' leaves_nothing 2 "no option '--nope'" \
    set.tar --train '--nope 1'
ok 'a wrong option of the selector' leaves_nothing 2 "'1': want a whole" \
    set.tar --batch 1
ok 'a strategy that does not fit' leaves_nothing 2 "no strategy 'nope'" \
    set.tar --select '--strategy nope'
mkdir flat
tar xf set.tar -C flat --wildcards '*.jpg' --transform 's,.*/,,'
ok 'TEST without labels' leaves_nothing 1 "'flat' has no labels" set.tar flat
ok 'DATA without, with TEST' leaves_nothing 1 "'flat' has no labels" flat \
    set.tar
long=$(printf 'x%.0s' {1..98})
ok 'a name too long for sockets: 1' refuses 1 'at most 97' foil run simclr \
    set.tar -r "$long"
ok 'no folder' exits 1 test -e "$long"
done_testing
