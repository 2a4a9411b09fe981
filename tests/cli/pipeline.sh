#!/usr/bin/env bash
# What a pipeline's script promises, with fake stages: each runs the commands in
# $work/do/STAGE, or else waits to be ended.
# shellcheck disable=SC2016,SC1003 # the fakes expand what stands in their commands
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

pipelines=$work/share/foil/pipelines
mkdir -p "$work/bin" "$work/do" "$pipelines"
cp "$BIN/foil" "$BIN/foil-run" "$work/bin"
cp -r "${0%/*}/../../pipelines/"{bin,parts} "$pipelines"
export work real=$BIN

for tool in train augment select negatives; do
    cat >"$work/bin/foil-$tool" <<'END'
#!/usr/bin/env bash
declare -A answer=(
    [train]='{"negatives":null,"outside":false,"epoch":0,"total":0,"enough":false}'
    [select]='{"keep_features":0,"samples":64,"largest":32,"least":32}'
    [augment]='{"views":2}' [negatives]='{}')
stage=${0##*foil-}
if [[ " $* " == *' --dry-run '* ]]; then
    dry=${answer[$stage]}
    [[ ! -e $work/do/dry-$stage ]] || dry=$(<"$work/do/dry-$stage")
    echo "$dry"
    exit
fi
[[ " $* " != *' --list '* ]] || exec "$real/foil-$stage" "$@"
trap 'echo "$stage" >>"$work/ended"; exit 0' TERM
echo $$ >>"$work/pids.$stage"
echo "$stage $*" >>"$work/started"
[[ ! -e $work/do/$stage ]] || . "$work/do/$stage"
while :; do sleep 0.05; done
END
    chmod 755 "$work/bin/foil-$tool"
done
printf '#!/bin/sh\n' >"$work/bin/foil-data"
chmod 755 "$work/bin/foil-data"
cat >"$pipelines/try" <<'END'
#!/usr/bin/env foil-run
# Try the stages.
#
# They are not real.
#: operands DATA [TEST]
#: default  grace 1
#: train    --lr 0.5 --optim sgd,nesterov

learn "$DATA"
echo "learnt from $DATA"
END
chmod 755 "$pipelines/try"

# begin STAGE=COMMANDS... : forget the last run and say what the fakes do
begin() {
    rm -rf "$work"/{run,do,started,ended,pids.*}
    mkdir "$work/do"
    local what
    for what in "$@"; do
        echo "${what#*=}" >"$work/do/${what%%=*}"
    done
}

try() {
    local code=0
    (cd "$work" && timeout -k 5 "$patience" bin/foil run try "$@" -r "$work/run") \
        2>"$work/said" || code=$?
    cat "$work/said" >&2
    return "$code"
}

started() {
    grep -c "^$1" "$work/started"
}

# How a stage of two augmenters and a selector waits for the others to start.
all_up='until [[ $(grep -c . "$work/started") -ge 4 ]]; do sleep 0.01; done;'

nothing_left() {
    local pid
    while read -r pid; do
        ! kill -0 "$pid" 2>/dev/null || { echo "$pid is left"; return 1; }
    done < <(cat "$work"/pids.*)
}

# ------------------------------------------------------- the command line

ok '--help: to stdout, 0' try --help
ok 'with the pipeline'\''s own sentence' \
    grep -q '^foil run try: Try the stages\.$' "$work/out"
ok 'unknown option: 2' refuses 2 "no option '--nonsense'" \
    try DATA --nonsense x
ok 'no data: 2' refuses 2 'wants DATA \[TEST\]' try
ok 'too much: 2' refuses 2 "what is 'c' for" try a b c
ok 'no number: 2' refuses 2 "--epochs 'many': want a whole number" \
    try DATA --epochs many
ok 'no value: 2' refuses 2 'wants a value' \
    "$work/bin/foil" run try DATA --epochs
ok 'no augmenter: 2' refuses 2 "--augmenters '0'" try DATA --augmenters 0

# ------------------------------------------------------------- normal end

begin "train=$all_up echo loss; exit 0"
ok 'the run is over when the trainer ends' try DATA --epochs 07 --batch=32
ok 'and the pipeline goes on' grep -q '^learnt from DATA$' "$work/out"
ok 'the others are ended' test "$(sort "$work/ended" | tr '\n' ' ')" = \
    'augment augment select '
ok 'the others are ended, nothing is left' nothing_left
ok 'epochs, batch, data reach the selector' grep -qx \
    "select -r $work/run --seed 1 --batch 32 --epochs 7 DATA" "$work/started"
ok 'the run directory is ours alone' \
    test "$(stat -c %a "$work/run")" = 700
ok 'each feeder has its log' \
    ls "$work/run/log/select.log" "$work/run/log/augment-2.log"

begin "train=$all_up exit 0"
ok 'a stage gets options of its own' \
    try DATA --train '--lr 0.1 --clip 3' --train=--fast
ok 'which win over the pipeline'\''s' grep -q \
    '^train .* --optim sgd,nesterov --lr 0.1 --clip 3 --fast$' "$work/started"
ok 'once' exits 1 grep -q 'lr 0.5' "$work/started"

begin "train=$all_up exit 0"
ok 'an option of one stage stands for itself' try DATA --room 3 --optim ,no-nesterov
ok 'with its value' grep -q '^augment .* --room 3' "$work/started"
ok 'or takes a flag back' grep -q '^train .* --optim sgd,no-nesterov$' "$work/started"
ok 'an option with a value is none to take back: 2' refuses 2 "no option '--no-room'" \
    try DATA --no-room

begin "train=$all_up exit 0"
echo '{"keep_features":3,"samples":64,"largest":32,"least":32}' \
    >"$work/do/dry-select"
ok 'a plan that the selector wants features for' try DATA
ok 'has the trainer keep them for as long as it says' \
    grep -q '^train .* --keep-features 3$' "$work/started"
begin "train=$all_up exit 0"
echo '{"keep_features":3,"samples":64,"largest":32,"least":32}' \
    >"$work/do/dry-select"
ok 'for as long as the user says' try DATA --train '--keep-features 5'
ok 'where he says so' grep -q '^train .* --optim sgd,nesterov --keep-features 5$' \
    "$work/started"

mkdir -p "$work/run/latest"
ok 'a run is not overwritten: 1' \
    refuses 1 "holds a run: add --resume to continue it" try DATA
touch "$work/DATA" # a run that is resumed looks for its data
ok 'but resumed' try DATA --resume
ok 'as the trainer is told' grep -q '^train .*--resume' "$work/started"

# a script of the user's own, far from the pipelines
mkdir "$work/own"
cp "$pipelines/try" "$work/own/mine.sh"
own() {
    (cd "$work/own" && timeout -k 5 "$patience" "$work/bin/foil" run "$@")
}
begin "train=$all_up exit 0"
ok 'a script of the user'\''s own is a pipeline' own ./mine.sh DATA --seed 3
ok 'which goes on behind its training' grep -q '^learnt from DATA$' "$work/out"
ok 'with a run by its name' test -d "$work/own/run/mine"
ok 'which remembers where it is' \
    grep -qx "pipeline $work/own/mine.sh" "$work/own/run/mine/command"
begin "train=$all_up exit 0"
mkdir "$work/own/run/mine/latest"
touch "$work/own/DATA"
ok 'so that it is resumed alone' own --resume -r run/mine
ok 'with the options of the run' grep -q '^train .*--seed 3.* --resume' \
    "$work/started"
ok 'its messages have its path: 2' refuses 2 \
    "^foil run ./mine.sh: no option '--nonsense'" own ./mine.sh --nonsense x
ok 'the run of one is not that of another: 1' refuses 1 \
    "is a run of '$work/own/mine.sh'" "$work/bin/foil" run try DATA --resume \
    -r "$work/own/run/mine"

# ----------------------------------------------------------------- faults

begin 'train=sleep 0.1; exit 7'
ok 'a failing trainer: its exit code' exits 7 try DATA
ok 'and a sentence' grep -q '^foil run try: train ended with exit code 7$' \
    "$work/said"
ok 'and a sentence, nothing is left' nothing_left

begin "select=$all_up echo select: no such data set >&2; exit 1"
ok 'a failing selector: its exit code' exits 1 try DATA
ok 'and a sentence' grep -q \
    '^foil run try: select ended with exit code 1; its log is ' "$work/said"
ok 'and what it said' grep -q '^select: no such data set$' "$work/said"
ok 'the trainer is asked to end' grep -q train "$work/ended"
ok 'the trainer is asked to end, nothing is left' nothing_left

begin 'select=printf "%s\n" old{1..9}; exit 2'
ok 'a selector that says much and fails' exits 2 try DATA
ok 'is quoted with its last five lines' \
    test "$(grep -c '^old[5-9]$' "$work/said")/$(grep -c ^old "$work/said")" = \
    5/5
begin 'select=printf "%s\n" "no such plan" "see --help"; exit 2'
mkdir -p "$work/run/log"
printf '%s\n' old{1..9} >"$work/run/log/select.log"
ok 'one that says little and fails' exits 2 try DATA
ok 'is quoted from its start on' test "$(head -n 3 "$work/said" | tail -n 2 |
    tr '\n' /)" = 'no such plan/see --help/'
ok 'and with nothing of an earlier start' exits 1 grep -q ^old "$work/said"

begin 'select=kill -KILL $$' 'train=sleep 30; exit 0'
ok 'a selector that is killed again and again: 137' \
    exits 137 try DATA --restarts 2
ok 'was started three times' test "$(started select)" -eq 3
ok 'was started three times, nothing is left' nothing_left

kill_one='! mkdir "$work/do/killed" 2>/dev/null || kill -KILL $$'
wait_for_3='until [[ $(wc -l <"$work/pids.augment") -eq 3 ]]; do sleep 0.01; done'
begin "augment=$kill_one" "train=$wait_for_3 2>/dev/null; exit 0"
ok 'a killed augmenter is started again' try DATA
ok 'and that is said' grep -qE \
    'augment-[12] was killed by signal 9; restarting it' "$work/said"

is_said='until grep -qs "other copies" "$work/said"; do sleep 0.01; done;'
begin "augment=$kill_one" "train=$is_said exit 0"
ok 'without restarts the other one goes on' try DATA --restarts 0
ok 'and that is said' grep -qE \
    'augment-[12] was killed by signal 9; its other copies continue' "$work/said"
begin 'augment=exit 1'
ok 'no augmenter is left: 1' exits 1 try DATA

begin 'select=trap "" TERM' "train=$all_up exit 0"
ok 'a stage that does not listen is killed' try DATA
ok 'a stage that does not listen is killed, nothing is left' nothing_left

# ------------------------------------------------- from outside: signals

# stopped_by SIGNAL : send it to the running pipeline, as init would
stopped_by() {
    "$work/bin/foil" run try DATA -r "$work/run" &
    local pid=$!
    becomes_true test -e "$work/do/ready" || return
    kill -"$1" "$pid"
    wait "$pid"
}

saves="trap 'echo saved >\"\$work/do/saved\"; exit 0' TERM; $all_up"
begin "train=$saves touch \"\$work/do/ready\""
ok 'SIGTERM: 143' exits 143 stopped_by TERM
ok 'the trainer saved' grep -q saved "$work/do/saved"
ok 'the trainer saved, nothing is left' nothing_left

# What Ctrl-C does to the pipeline; the stages are out of its reach.
begin "train=$saves kill -INT \$(ps -o ppid= \$(ps -o ppid= \$PPID))"
ok 'SIGINT: 130' exits 130 try DATA
ok 'and how to go on' grep -qF \
    "foil run try: stopped; 'foil run --resume -r $work/run' continues" \
    "$work/said"
ok 'the trainer saved' grep -q saved "$work/do/saved"
ok 'the trainer saved, nothing is left' nothing_left

interrupted_twice() {
    "$work/bin/foil" run try DATA -r "$work/run" 2>"$work/said" &
    local pid=$!
    becomes_true test -e "$work/do/ready" || return
    kill -TERM "$pid"
    becomes_true grep -q 'second signal' "$work/said"
    kill -TERM "$pid"
    wait "$pid"
}
begin "train=trap '' TERM; $all_up touch \"\$work/do/ready\""
ok 'a second signal ends a trainer that does not listen' exits 143 \
    interrupted_twice
ok 'a second signal ends a trainer that does not listen, nothing is left' nothing_left

begin "train=$all_up touch \"\$work/do/ready\""
killed() {
    exits 137 stopped_by KILL
    becomes_true nothing_left
}
ok 'SIGKILL of the pipeline: nothing is left' killed

killed_shell() {
    "$work/bin/foil" run try DATA -r "$work/run" 2>"$work/said" &
    local pid=$! code=0
    becomes_true test -e "$work/do/ready" || return
    pkill -KILL -s "$(pgrep -P "$pid" -x sh)" -x sh
    wait "$pid" || code=$?
    cat "$work/said"
    test "$code" -eq 137 && becomes_true nothing_left
}
begin "train=$all_up touch \"\$work/do/ready\""
ok 'SIGKILL of its shell: 137, nothing is left' killed_shell
ok 'which is said' grep -qx 'foil run try: the shell was killed by signal 9' \
    "$work/said"

killed_step() {
    "$work/bin/foil" run try DATA -r "$work/run" &
    local pid=$! code=0
    becomes_true test -e "$work/do/ready" || return
    pkill -KILL -f -- '^foil-run --learn DATA'
    wait "$pid" || code=$?
    test "$code" -eq 137 && becomes_true nothing_left
}
begin "train=$all_up touch \"\$work/do/ready\""
ok 'SIGKILL of learn: 137, nothing is left' killed_step

# ------------------------------------------------------------ other scripts

# script LINE... : a script of these lines behind a header, run with $work/run
script() {
    printf '%s\n' '#!/usr/bin/env foil-run' '# Steps.' '#: operands [DATA]' \
        '#: option size N 3 "of it"' '#: option way in|out in \' '#: "which"' \
        '' "$@" >"$work/own/steps"
    chmod 755 "$work/own/steps"
    (cd "$work/own" && timeout -k 5 "$patience" "$work/bin/foil" run ./steps "${more[@]}" -r "$work/run")
}
more=(here --size 04)
begin
ok 'operands, options and RUN are variables' script \
    'echo "$DATA $SIZE $WAY $EPOCHS" >"$RUN/values"' 'trap "touch $RUN/last" EXIT'
ok 'with their values' grep -qx 'here 4 in 100' "$work/run/values"
ok 'a trap is run in the end' test -e "$work/run/last"
rm "$work/run/last"
ok 'a command that fails is the last: its exit code' exits 3 script \
    'trap "touch $RUN/last" EXIT' 'sh -c "exit 3"' 'touch "$RUN/not"'
ok 'but for a trap' test -e "$work/run/last" -a ! -e "$work/run/not"
ok 'a variable that is not set fails' refuses 2 'nobody' script 'echo $nobody'
ok 'a script works by its first line' env PATH="$work/bin:$PATH" \
    "$work/own/steps" --help
ok '--trace shows the commands' eval "more+=(--trace)
    script 'echo \"size \$SIZE\"' 2>'$work/said' && grep -q '+ echo size 4' '$work/said'"
more=(here)
rm -rf "$work/run"
ok 'nothing is left where nothing was made' exits 3 script 'exit 3'
ok 'not even the run directory' test ! -e "$work/run"
more=(here --stages)
ok 'nothing is made by --stages' script 'make-key "$RUN/keys" train' 'learn "$DATA"' \
    'touch "$RUN/not"'
ok 'but the list of stages' grep -q "^train  *main  *never  *foil-train -r " "$work/out"
ok 'not even the run directory, by --stages' test ! -e "$work/run"

# in a loop, each in a folder of its own, and each once
more=(here)
begin "train=mkdir -p \$RUN/latest; $all_up exit 0"
loop='for tau in 0.1 0.2; do
    RUN=$FOIL_RUN/$tau
    learn "$DATA" --train.objective ",tau=$tau" --augmenters 1
done'
sed -i 's/-ge 4/-ge 3/' "$work/do/train"
ok 'a loop of trainings' script "$loop"
ok 'each with its option' test "$(grep -c '^train .*/run/0.[12] --objective simclr,tau=0.[12] ' \
    "$work/started")" -eq 2
more+=(--resume)
touch "$work/own/here"
ok 'that goes on' script "$loop"
more=(nosuch)
ok 'data that are not there: how the whole script goes on with others' refuses 1 \
    "give the new place by 'foil run ./steps PLACE --resume -r $work/run --override DATA'" \
    script "$loop"

old=('#: train --momentum 0.9' 'learn "$DATA"')
for words in here "--help here" "--stages here"; do
    read -ra more <<<"$words"
    begin "train=$all_up exit 0"
    ok "an old spelling in the header: $words" script "${old[@]}"
    ok "has a line only where something is trained: $words" \
        test "$(grep -c 'momentum 0.9 is now' "$work/out")" = "$((2 - ${#more[@]}))"
done
begin

for wrong in "2|want one of in.out|--way|up" '2|want a whole number|--size|x'; do
    IFS='|' read -r code why option value <<<"$wrong"
    more=(here "$option" "$value")
    ok "a wrong value of an option: $code" refuses "$code" "$why" script
done
more=(here --help)
ok 'an option behind the line that sets it' script '#: default shots 07' \
    '#: option shots N 3 "of it"'
ok 'has that value' grep -q -- '--shots N  *of it \[7\]' "$work/out"
more=()
while IFS='|' read -r code why line; do
    ok "refused: $line" refuses "$code" "$why" script "$line"
done <<'END'
1|./steps:8: no header line 'lern'|#: lern data
1|./steps:8: 'default' wants 2 words|#: default a
1|./steps:8: a quote is not closed|#: train '
1|./steps:8: 'path' is no name for an option|#: option path FILE '' 'of it'
1|./steps:8: 'run' is no name for an option|#: default run x
1|./steps:8: method 'a': want STAGE=OPTIONS, not 'lr=1'|#: method a simclr lr=1
1|./steps:8: .*nope.*: No such file|#: include nope
1|./steps:8: no option '--bach': did you mean '--batch'?|#: default bach 16
1|./steps:8: --lr belongs to a line such as '#: train'|#: default lr 0.1
1|./steps:8: --epochs 'few': want a whole number|#: default epochs few
1|./steps:8: --way 'up': want one of in.out|#: default way up
1|./steps:8: --shots 'few': want a whole number|#: option shots N few 'of it'
1|./steps:8: --kind 'c': want one of a.b|#: option kind a|b c 'of it'
1|./steps:8: --seed is an option already: '#: default seed VALUE' sets it|#: option seed N 3 'of it'
1|./steps:8: --size is an option already: '#: default size VALUE' sets it|#: option size N 3 'of it'
1|./steps:8: --threads is an option of every pipeline: '#: default threads VALUE' sets it|#: train --lr 0.1 --threads 1
1|./steps:8: --seed is an option of every pipeline|#: tuned --seed=3
1|./steps:8: --epochs is an option of every pipeline|#: select --epochs 3
127|nope|nope
1|^foil run ./steps: my word$|fail 'my word'
2|^foil run ./steps: my word$|misuse 'my word'
1|learn wants the data set|learn
1|unexpected 'b' after 'a'|learn a b
2|no option '--nonsense'|learn --nonsense a
END
printf '%s\n' '# Steps.' 'pipeline DATA' 'learn $DATA' >"$work/own/old.list"
ok 'a list of steps: 1' refuses 1 \
    "'./old.list' is a list of steps, which this foil does not run" own ./old.list x
done_testing
