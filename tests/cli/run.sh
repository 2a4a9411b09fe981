#!/usr/bin/env bash
# `foil run` with real stages: every objective with any pipeline, a run that stores its
# command, and refused starts that leave no files.
# Not for sanitizers: pipelines; other tests cover their stages.
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

# simclr RUN ARG... : a small run; its messages are in $work/messages
simclr() {
    local code=0
    timeout -k 5 "$patience" foil run simclr -r "$@" 2>messages || code=$?
    cat messages
    return "$code"
}

# ------------------------------------------- objectives and strategies

foil-train --list objectives >objectives.json
foil-select --list strategies >strategies.json
ok '--list objectives prints JSON with a sentence for each' \
    jq -es 'length > 10 and all(.name and .summary and (.defaults | .tau))' \
    objectives.json
ok '--list strategies prints JSON with a sentence for each' \
    jq -es 'length > 5 and all(.name and .summary and (.features != null))' \
    strategies.json
declare -A served features_of # needs a service; epochs of features
while read -r name want; do
    objective+=("$name") served[$name]=$want
done < <(jq -r '"\(.name) \(.negatives != null)"' objectives.json)
while read -r name want; do
    strategy+=("$name") features_of[$name]=$want
done < <(jq -r '"\(.name) \(.keep_features)"' strategies.json)

# Trains each objective, with the strategies in turn.
train_each() {
    local i
    for i in "${!objective[@]}"; do
        timeout -k 5 "$patience" foil run simclr train.foil -r "each-$i" --epochs 1 \
            --batch 8 --objective "${objective[i]}" --train "$net" "${tiny[@]}" \
            --select "--strategy ${strategy[i % ${#strategy[@]}]},draws=9" \
            >"each-$i.messages" 2>&1 &
        [[ $((i % 4)) -ne 3 ]] || wait
    done
    wait
}
train_each

# as_listed I STRATEGY : the run had the stages and features that --list names
as_listed() {
    local run=each-$1 name=${objective[$1]} service=false
    cat "$run.messages"
    [[ ! -e $run/log/negatives.log ]] || service=true
    test "$service" = "${served[$name]}" || return
    test "$(jq -r '.options | "\(.objective) \(.["keep-features"])"' \
        "$run/latest/config.json")" = "$name ${features_of[$2]}"
}
for i in "${!objective[@]}"; do
    planned=${strategy[i % ${#strategy[@]}]}
    ok "foil run trains ${objective[i]} with a plan of $planned, as listed" \
        as_listed "$i" "$planned"
done

ok "--train '--objective hcl' trains" simclr by-train train.foil --epochs 1 \
    --batch 8 --train "$net --objective hcl" "${tiny[@]}"
ok 'the objective of --train has its own defaults' \
    jq -e '.options | .objective == "hcl" and .tau == 0.5 and .beta == 0.5' \
    by-train/latest/config.json
ok 'foil run emc2 trains another objective' timeout "$patience" foil run emc2 \
    -r other train.foil --epochs 1 --batch 8 --objective dcl --train "$net" \
    "${tiny[@]}"
ok 'another objective does not get the tau of emc2' \
    jq -e '.options.tau == 0.1' other/latest/config.json

# -------------------------------------------------------------- warm-up

ok 'a short run warms up for a tenth of it' \
    jq -e '.options.warmup == 0.1' by-train/latest/config.json
ok 'a warm-up longer than the run exits with 1' exits 1 simclr long \
    train.foil --epochs 2 --train "$net --warmup 5" "${tiny[@]}"
ok 'the error about the warm-up says what to do' \
    grep -q -- '--warmup is 5 epochs and the run has 2.*--warmup 0.2' messages

# ------------------------------------------------------ a run in two parts

asked=(train.foil test.foil --epochs 150 --batch 8 --seed 3 --objective sogclr
    "${tiny[@]}" --train "$net --lr 0.1 --checkpoint-every 7")
ok 'a run with evaluation succeeds' simclr whole "${asked[@]}"
ok 'foil run prints where the results are' \
    grep -q "run is over: 'whole' has .*results.jsonl" messages

# stopped RUN : stops it by SIGTERM in the middle.  On a busy machine the run may be over
# before; then it is repeated, up to three times.
stopped() {
    local try pid code
    for try in 1 2 3 4; do
        code=0
        foil run simclr -r "$1" "${asked[@]}" 2>"$1.messages" &
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
ok 'SIGTERM in the middle of a run exits with 143' exits 143 stopped parts
ok 'a stopped run prints how to resume it' \
    grep -q "'foil run --resume -r parts' continues" parts.messages
ok 'the run directory has the command of the run' grep -qx 'epochs 150' parts/command
# shellcheck disable=SC2016 # of bash
ok '--resume works from another folder without further options' bash -c \
    'mkdir -p away && cd away && foil run --resume -r ../parts 2>../messages'
ok '--resume prints at which step it continues' grep -qE \
    "continues after step [0-9]+, in epoch [0-9]+: sogclr, 16 images" messages
ok 'a resumed run has the same bits' same_bits whole parts
# shellcheck disable=SC2016 # of jq
ok 'a resumed run has the same results' jq -es '[.[] | select(.measure == "probe")] |
    length == 2 and .[0].accuracy == .[1].accuracy' {whole,parts}/results.jsonl

# if a run starts its feeders, they make new endpoints and write to their logs
feeders() {
    find parts/plan parts/log -printf '%p %i %T@\n' | sort
}
feeders >before
ok '--resume of a finished run exits with 0' \
    timeout "$patience" foil run --resume -r parts
ok '--resume of a finished run prints one line' \
    test "$(grep -c "was over before.*'parts' has " out)/$(wc -l <out)" = 1/1
ok '--resume of a finished run starts no feeder' cmp before <(feeders)

# ------------------------------------------------- the command of another run

options_of() {
    jq -c '.options | del(.seed, .lr)' "$1/latest/config.json"
}
ok '--config takes the command of another run' simclr copied --config \
    whole/command --seed 4 --train "$net --lr 0.3"
ok '--config takes all options of the other run' \
    test "$(options_of copied)" = "$(options_of whole)"
ok 'options of the command line override --config' \
    jq -e '.options | .lr == 0.3 and .seed == 4' \
    copied/latest/config.json
ok '--config takes the data of the other run and evaluates' grep -q '"measure":"probe"' \
    copied/results.jsonl
echo 'epohcs 3' >wrong
ok 'a wrong option in a --config file exits with 2' exits 2 simclr wrong-name train.foil \
    --config wrong
ok 'the error names the wrong option and its line' \
    grep -q "'wrong', line 1: 'epohcs'" messages
ok 'a missing --config file exits with 1' exits 1 simclr wrong-name train.foil \
    --config nothing

# ----------------------------------------------- --resume with further options

ok '--resume with the same options succeeds' simclr parts train.foil --resume \
    --batch 8 --lr 0.1 --size 8
# refused_by WORDS... : --resume with these is refused; the command stays the same
refused_by() {
    local code=0
    cp parts/command command
    simclr parts --resume "$@" || code=$?
    cmp command parts/command || return
    return "$code"
}
ok '--resume with another --batch exits with 1' exits 1 refused_by --batch 4
ok 'the error names --batch and both values' \
    grep -qx "foil run simclr: --batch is 4, but 8 in this run: leave \
it out, or add --override batch" messages
ok '--resume with another --threads exits with 1' exits 1 refused_by --threads 2
ok '--resume with another --size exits with 1' exits 1 refused_by --size 16
ok 'the error names --size and both values' \
    grep -q -- "--augment is --size 16, but --size 8 in this run" messages
both() {
    simclr parts --resume --stages --override augment --recipe cifar
}
ok '--resume with an option of a stage replaces only that option' eval \
    "both | grep -q -- '^augment .*--size 8 --recipe cifar '"
ok '--resume with another data set exits with 1' exits 1 refused_by test.foil
ok 'the error names both data sets' \
    grep -q 'DATA is .*test.foil, but .*train.foil .*override DATA' \
    messages
ok '--resume with another --lr exits with 1' exits 1 refused_by --lr 0.2
ok 'foil-train prints the error about --lr' \
    grep -q 'foil-train: --lr is 0.2, but 0.1 in the checkpoint' \
    messages
ok '--resume with another pipeline exits with 1' \
    exits 1 timeout "$patience" foil run emc2 --resume -r parts
ok '--override without --resume exits with 2' refuses 2 'belongs to --resume' \
    foil run simclr set.tar -r new --override batch
ok '--override of an unknown option exits with 2' exits 2 refused_by \
    --override nonsense
ok '--resume with another number of augmenters succeeds' simclr parts --resume \
    --augmenters 2
ok '--override epochs and lr succeeds' simclr parts --resume \
    --epochs 151 --lr 0.05 --override epochs --override lr
ok '--override epochs trains further epochs' \
    test "$(tail -n 1 parts/metrics.jsonl | jq .epoch)" -eq 150
ok '--override epochs changes the stored command' grep -qx 'epochs 151' parts/command
rm parts/command
ok '--resume of a run without a command succeeds' simclr parts train.foil --resume \
    --batch 8 --seed 3 --objective sogclr --epochs 152 "${tiny[@]}" \
    --train '--lr 0.05'
ok '--resume of a run without a command reports it' \
    grep -q 'older version of foil, without its command' messages
odd=$'a\\nb\nc.tar'
cp set.tar "$odd"
ok 'a path with a new line and a backslash trains' simclr odd "$odd" --epochs 1 \
    --batch 8 --train "$net" "${tiny[@]}"
ok 'a run with such a path resumes' simclr odd --resume --epochs 2 --override epochs

# --------------------------------------------------- classes of TEST and TRAIN

foil-data cat set.tar 0 >image.jpg
printf '%s\n' 'image.jpg,07' 'image.jpg,1' 'image.jpg,1' >known.csv
printf '%s\n' 'image.jpg,07' 'image.jpg,new one' >other.csv
printf '%s\n' 'image.jpg,7' >same.csv
printf '%s\n' 'image.jpg,7' 'image.jpg,' >stray.csv
for list in known other same stray; do
    foil-data index $list.csv 2>/dev/null
done
ok 'a class that the training set lacks exits with 1' \
    refuses 1 "'other.csv' has images of the class 'new one', which 'known.csv'" \
    foil run simclr known.csv other.csv -r new
ok 'a refused data set leaves no run' exits 1 test -e new
ok 'an image without a label in TEST exits with 1' refuses 1 \
    "images of 'stray.csv' without a label: 1; nothing can be judged" \
    foil run simclr known.csv stray.csv -r new
ok 'a class with the same number is accepted' foil run simclr known.csv same.csv \
    -r new --batch 2 --stages
ok 'foil run reports test images that are in the training set' \
    grep -q "1 of 1 images of 'same.csv' are in 'known.csv', too" out

# ---------------------------------------------- stages with other commands

own=(train.foil --epochs 3 --batch 8 --train "$net --lr 0.1" "${tiny[@]}")
ok "a run with foil's tools succeeds" simclr tools "${own[@]}"
ok '--stages prints the list of stages' simclr listed "${own[@]}" --stages
cp out list
ok '--stages with options by stage succeeds' simclr listed \
    train.foil --augmenters 1 --augment '--size 8' \
    --train "$net --lr 0.1 --threads=1" \
    --select '--epochs 3 --batch 8' --stages
ok 'options by stage give the same list' cmp out list
ok 'an option for all and for one stage exits with 2' \
    refuses 2 '--epochs is given twice' \
    foil run simclr train.foil -r listed --epochs 3 --select '--epochs 3'
for columns in 60 100; do
    /usr/bin/python3 "$here/terminal.py" "$columns" 60 -- foil run clip --help |
        tr -d '\r' >screen
    ok "--help fits into $columns columns" \
        test "$(wc -L <screen)" -le "$columns"
    ok "--help has every word in $columns columns" \
        test "$(xargs -d '\n' <screen | tr -s ' ')" = \
        "$(foil run clip --help | xargs -d '\n' | tr -s ' ')"
done
ok '-h is --help' bash -c "foil run simclr -h | grep '^usage: foil run simclr'"
ok '--stages prints a line for each stage' test "$(awk '!/^#/ && NF { print $1 }' list |
    paste -sd ' ')" = 'train augment select'
ok '--stages makes no folder' exits 1 test -e listed
ok 'foil run runs the printed list' foil run ./list -r listed
ok 'the printed list gives the same bits' same_bits tools listed
ok "commands in front of foil's tools train" simclr nice \
    "${own[@]}" --train-command 'nice -n 1 foil-train' \
    --augment-command 'env A=b foil-augment' \
    --select-command "sh -c 'exec foil-select \"\$@\"' sh"
ok "commands in front of foil's tools give the same bits" same_bits tools nice
ok 'the run stores the command of a stage' grep -qx 'train-command nice -n 1 foil-train' \
    nice/command
ok '--resume with another command of a stage exits with 1' exits 1 simclr nice --resume \
    --train-command foil-train
ok 'the error names the option of the command' grep -q \
    "train-command is foil-train, but nice -n 1 foil-train in this run" messages
ok 'a wrong option of a tool with a command exits with 2' exits 2 simclr new \
    "${own[@]}" --train-command 'nice -n 1 foil-train' --train=--nonsense
ok 'a refused option leaves no run' exits 1 test -e new
# A wrong option is refused by its stage before any stage starts.
while read -r stage pattern options; do
    ok "$stage $options is refused" refuses "${pattern%%:*}" "${pattern#*:}" \
        foil run emc2 train.foil test.foil -r new --epochs 1 --batch 8 \
        --train "$net" "${tiny[@]::4}" "--$stage" "$options"
    ok "refused $options leaves no run" exits 1 test -e new
done <<'END'
select 2:foil-select:.*--remainder --remainder=neither
negatives 2:foil-negatives:.*--command-limit --command-limit=3
negatives 2:foil-negatives:.*--beta --beta=-3
augment 1:foil-augment.makes.6.views.*takes.2:.want.--views.2 -v 6
augment 2:foil-augment:.*no.recipe.'cifr' --recipe cifr
embed 2:foil-embed:.*no.option.'--nonsense' --nonsense
embed 2:foil-embed:.*no.recipe.'cifr' --recipe cifr
END
ok '--weigh-command replaces method and extra images' \
    timeout 60 foil run emc2 train.foil -r weighed --epochs 1 --batch 8 \
    --train "$net" "${tiny[@]}" \
    --weigh-command "perl '$here/../../pipelines/commands/weigh.pl'"
ok '--weigh-command is called in each step' jq -se 'length == 2 and all(.without_service | not)' \
    weighed/metrics.jsonl
ok 'a missing command of a stage exits with 1' exits 1 simclr new \
    "${own[@]}" --negatives-command nope --objective emc2
ok 'the error names the missing command' \
    grep -q "^foil run simclr: .*no command 'nope' for 'negatives'" messages
ok 'a missing command leaves no run' exits 1 test -e new
cat >mine.py <<'end'
import json, os, sys
json.dump([os.environ["RUN"], sys.argv[1:]], open("mine.json", "w"))
end
ok "a user's trainer runs" simclr mine "${own[@]}" \
    --train-command '/usr/bin/python3 mine.py --mine' --train '--its-own 3'
ok "a user's trainer gets foil's options and its own" jq -e '.[0] == "mine" and
    (.[1] | .[0] == "--mine" and index("-r") and index("simclr") and
    .[-2:] == ["--its-own", "3"])' mine.json
ok "a user's trainer that fails ends the run with its exit code" \
    exits 4 simclr fails "${own[@]}" \
    --train-command "sh -c 'exit 4'"

# ----------------------------------------------- messages that say what to do

while read -r ours theirs; do
    ok "the error for $theirs names $ours" \
        refuses 2 "no option '$theirs': it is ${ours/_/ }\$" \
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
ok '--device exits with 2 and says that there is no choice' \
    refuses 2 "no option '--device': .*processors" \
    foil run simclr train.foil -r new --device cuda
ok '--gpu exits with 2 and says to leave it out' \
    refuses 2 "no option '--gpu': .*leave it out" \
    foil train -r new --gpu
ok 'an option given twice exits with 2 and prints both values' refuses 2 \
    "lr is given twice: as '1' and as '2'" foil train -r new --lr 1 --lr=2
ok 'an option given twice, once in --train, exits with 2' \
    refuses 2 "given twice: as '1' and as '2'" \
    foil run simclr train.foil -r new --lr 1 --train '--lr 2'
mkdir -p photos
ok '--resume of a folder without a run exits with 1' \
    refuses 1 "'photos' is no run of 'foil run'.*or start a run" \
    foil run --resume -r photos
ok '--resume of a pipeline in a folder without a run exits with 1' \
    refuses 1 "'photos' is no run: .*without --resume" \
    timeout 60 foil run simclr train.foil --resume -r photos
cp -r whole moved
sed -i 's/^DATA .*/DATA \/nowhere\/train.foil/' moved/command
ok '--resume with data that were deleted exits with 1' refuses 1 \
    "no '/nowhere/train.foil'.* PLACE --resume -r moved --override DATA" \
    foil run --resume -r moved
echo >>moved/latest/model.safetensors
last=$(readlink moved/latest)
ok '--resume with a damaged checkpoint says how to use the one before' \
    refuses 1 "'rm -r moved/$last' and --resume continue after step" \
    foil run simclr train.foil --resume -r moved --override DATA
ok '--resume with the only checkpoint damaged exits with 1' \
    refuses 1 'no other checkpoint' bash -c "
    ls -d moved/step-* | grep -v $last | xargs rm -r
    foil run simclr train.foil --resume -r moved --override DATA"
ok 'foil data index of an image exits with 1' \
    refuses 1 "'image.jpg' is not a tar.*want a tar, a folder" \
    foil data index image.jpg
ok 'foil eval of a folder exits with 1' refuses 1 "'photos/' is a folder.*foil embed" \
    foil eval knn photos/
ok '--strategy spectral,block=0 exits with 1' refuses 1 'spectral,block=40 or less' \
    foil run spectral train.foil -r new --strategy spectral,block=0
ok 'a refused strategy leaves no run' exits 1 test -e new
ok 'foil top RUN succeeds' foil top whole --once
ok 'foil top RUN prints what foil top -r RUN prints' cmp out <(foil top -r whole --once)
ok 'foil view RUN --export succeeds' foil view whole --export whole.html
ok 'foil stop RUN without a trainer exits with 3' \
    refuses 3 "no trainer runs in 'whole'" foil stop whole
ok 'foil stop -r RUN without a trainer exits with 3' \
    refuses 3 "no trainer runs in 'whole'" foil stop -r whole
ok 'a run that is given twice exits with 2' refuses 2 \
    "run is given twice: as 'whole' and as 'parts'" foil view -r whole parts
foil tap whole 2>tapped &
tap=$!
ok 'foil tap RUN waits for the events of the run' becomes_true \
    grep -q "no message from 'ipc://whole/events'" tapped
kill "$tap"
wait "$tap"

# options of stages without a prefix
listed() {
    foil run simclr train.foil -r new --stages --lr .1 --max-batch=64 --optim ,no-nesterov \
        --train.objective ,tau=.3 --window 4 --size 20 --augment.plan 'ipc://a b' --layer z |
        grep "^$1 "
}
ok 'options without a prefix go to the stage that has them' eval \
    "listed train | grep -q 'objective simclr,tau=.3 .* 500 --warmup 5 --lr .1\
 --max-batch 64 --optim ,no-nesterov --window 4$' && listed augment | grep -q -- '1 --size 20 --plan .ipc://a b. '"
ok 'an option of several stages exits with 2' refuses 2 \
    'several stages have --tau: use one of --select.tau --train.tau' \
    foil run simclr train.foil -r new --tau .1 --strategy swap
ok '--tau without a strategy is that of the trainer' eval \
    "foil run simclr train.foil -r new --stages --tau .4 | grep -q 'objective simclr,tau=.4 '"
ok '--tau with a strategy of the header exits with 2' refuses 2 'several stages have --tau' \
    foil run spectral train.foil -r new --tau .1
ok 'an option that the named stage does not have exits with 2' \
    refuses 2 "no option '--train.block'" \
    foil run simclr train.foil -r new --train.block 3
ok 'a misspelled option exits with 2 and a suggestion' \
    refuses 2 "no option '--wimdow': did you mean '--window'" \
    foil run simclr train.foil -r new --wimdow 3
ok 'a value for a flag exits with 2' refuses 2 '--partial takes no value' \
    foil run simclr train.foil -r new --partial=3
ok 'an option without its value exits with 2' refuses 2 '--lr needs a value' \
    foil run simclr train.foil -r new --lr
ok '--stages of a pipeline that makes its data exits with 2' refuses 2 "needs the pipeline's data" \
    foil run quickstart -r new --stages
ok 'foil run quickstart succeeds' \
    timeout 200 foil run quickstart -r quick --epochs 1 --augmenters 1 --threads 1
ok 'quickstart ends with a table and its sentence' grep -qE \
    '^(No b|B)etter than raw pixels \(32x32\) by 1-NN: [+-][0-9.]+ points, noise [0-9.]+' out
ok 'quickstart prints no line above 200 characters' awk 'length > 200 { exit 1 }' out
ok 'quickstart leaves the figures' \
    jq -e '.n == 1600 and (.pixels, .untrained, .trained)["1-NN"] > 0' quick/table.json
examples=$(cd "$here/../../pipelines/examples" && pwd)
if has_python numpy; then
    ok 'a run with a strategy in Python succeeds' simclr python "${own[@]}" \
        --train '--keep-features 2' \
        --select "--strategy-command '/usr/bin/python3 $examples/../python/curriculum.py train.foil'"
    ok 'a strategy in Python trains all steps' past python 6
    ok 'the example of a list of stages succeeds' \
        env DATA=train.foil PATH="$PATH" bash -c \
        "ln -s '${examples%/*}' . && foil run ./pipelines/examples/python.list"
    ok 'the example of a list trains ten epochs' past run/python 10
else
    skip 'a strategy in Python' 'no python3-numpy'
fi

# ------------------------------------------------------------- a living run

# second RUN ARG... : a second start of a run in training changes nothing in it
second() {
    local run=$1 code=0
    shift
    find "$run/log" "$run/command" -type f -exec cksum {} + >before
    cp living.messages living.before
    timeout "$patience" foil run "$@" -r "$run" 2>messages || code=$?
    cat messages
    find "$run/log" "$run/command" -type f -exec cksum {} + | cmp before - &&
        cmp living.messages living.before && return "$code"
}
foil run simclr train.foil -r living --epochs 1000000 --batch 8 \
    --train "$net" "${tiny[@]}" 2>living.messages &
living=$!
becomes_true past living 50
ok '--resume of a run in training exits with 1' exits 1 second living --resume
ok 'the error names the run in training' grep -q "another foil run uses 'living'" messages
ok 'a second start of a run in training exits with 1' \
    exits 1 second living simclr train.foil
kill -TERM "$living"
wait "$living"
mkdir lone
foil-train -r lone 2>/dev/null &
lone=$!
: >living.messages
becomes_true test -e lone/batch
mkdir lone/log
touch lone/command
ok 'a start in a run of foil-train exits with 1' exits 1 second lone \
    simclr train.foil
ok 'the error names the run of foil-train' \
    grep -q "another foil-train has 'lone'" messages
kill "$lone"
wait "$lone" 2>/dev/null

# -------------------------------------------------- refused starts leave no files

# leaves_nothing CODE PATTERN ARG... : it is refused, and no folder is left
leaves_nothing() {
    exits "$1" simclr new "${@:3}" || return
    grep -E -- "$2" messages || return
    ! test -e new
}
ok 'missing data leave no run' leaves_nothing 1 "cannot open 'nope'" nope
ok 'an unknown objective leaves no run' leaves_nothing 2 "no objective 'nope'" set.tar \
    --objective nope
ok 'a wrong option of the trainer leaves no run' leaves_nothing 2 "no option '--nope'" \
    set.tar --train '--nope 1'
ok 'a wrong option of the selector leaves no run' leaves_nothing 2 "'1': want a whole" \
    set.tar --batch 1
ok 'an unknown strategy leaves no run' leaves_nothing 2 "no strategy 'nope'" \
    set.tar --select '--strategy nope'
mkdir flat
tar xf set.tar -C flat --wildcards '*.jpg' --transform 's,.*/,,'
ok 'TEST without labels leaves no run' \
    leaves_nothing 1 "'flat' has no labels" set.tar flat
ok 'DATA without labels leaves no run' leaves_nothing 1 "'flat' has no labels" flat \
    set.tar
long=$(printf 'x%.0s' {1..98})
ok 'a name that is too long for sockets exits with 1' \
    refuses 1 'at most 97' foil run simclr \
    set.tar -r "$long"
ok 'a name that is too long leaves no run' exits 1 test -e "$long"
done_testing
