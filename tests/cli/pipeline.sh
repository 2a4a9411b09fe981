#!/usr/bin/env bash
# What a pipeline's list promises, with stages that do as they are told: a fake
# runs the commands in $work/do/STAGE, or else waits to be ended.
# shellcheck disable=SC2016 # the fakes expand what stands in their commands
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

pipelines=$work/share/foil/pipelines
mkdir -p "$work/bin" "$work/do" "$pipelines"
cp "$BIN/foil" "$BIN/foil-run" "$work/bin"
cp -r "${0%/*}/../../pipelines/parts" "$pipelines"
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
[[ " $* " != *' --help '* ]] || exec "$real/foil-$stage" "$@"
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
cat >"$pipelines/try.list" <<'END'
# Try the stages.
#
# They are not real.
pipeline DATA [TEST]
set grace 1
train --lr 0.5 --nesterov

learn $DATA
run echo "learnt from $DATA"
END

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
    '^train .* --nesterov --lr 0.1 --clip 3 --fast$' "$work/started"
ok 'once' exits 1 grep -q 'lr 0.5' "$work/started"

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
ok 'where he says so' grep -q '^train .* --nesterov --keep-features 5$' \
    "$work/started"

mkdir -p "$work/run/latest"
ok 'a run is not overwritten: 1' \
    refuses 1 "holds a run: --resume goes on with it" try DATA
touch "$work/DATA" # a run that is resumed looks for its data
ok 'but resumed' try DATA --resume
ok 'as the trainer is told' grep -q '^train .*--resume' "$work/started"

# a list of the user's own, far from the pipelines
mkdir "$work/own"
cp "$pipelines/try.list" "$work/own/mine.list"
own() {
    (cd "$work/own" && timeout -k 5 "$patience" "$work/bin/foil" run "$@")
}
begin "train=$all_up exit 0"
ok 'a list of the user'\''s own is a pipeline' own ./mine.list DATA --seed 3
ok 'which goes on behind its training' grep -q '^learnt from DATA$' "$work/out"
ok 'with a run by its name' test -d "$work/own/run/mine"
ok 'which remembers where it is' \
    grep -qx "pipeline $work/own/mine.list" "$work/own/run/mine/command"
begin "train=$all_up exit 0"
mkdir "$work/own/run/mine/latest"
touch "$work/own/DATA"
ok 'so that it is resumed alone' own --resume -r run/mine
ok 'with the options of the run' grep -q '^train .*--seed 3.* --resume' \
    "$work/started"
ok 'its messages have its path: 2' refuses 2 \
    "^foil run ./mine.list: no option '--nonsense'" own ./mine.list --nonsense x
ok 'the run of one is not that of another: 1' refuses 1 \
    "is a run of '$work/own/mine.list'" "$work/bin/foil" run try DATA --resume \
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
begin "train=$saves kill -INT \$(ps -o ppid= \$PPID)"
ok 'SIGINT: 130' exits 130 try DATA
ok 'and how to go on' grep -qF \
    "foil run try: stopped; 'foil run --resume -r $work/run' goes on" \
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

# --------------------------------------------------------- steps of a list

# steps LINE... : a list of these lines, run with $work/run
steps() {
    printf '%s\n' '# Steps.' 'pipeline [DATA]' 'option size N 3 "of it"' \
        'option way in|out in "which"' "${@//RUN/$work/run}" >"$work/own/steps"
    (cd "$work/own" && timeout -k 5 "$patience" "$work/bin/foil" run ./steps "${more[@]}" -r "$work/run")
}
more=(here --size 04)
begin
ok 'words, guards, loops and files' steps 'set name a' 'let text echo b c' \
    'if $DATA unless "" run mkdir -p RUN' 'if "" run false $nobody' \
    'without RUN run false' 'for i 1,2 onto RUN/said run echo $i "$name $text" $text...' \
    'for i "" run false' 'to RUN/size run echo $size $way' \
    'finally touch RUN/last'
ok 'are as they are told' test "$(cat "$work/run/said" "$work/run/size")" = \
    $'1 a b c b c\n2 a b c b c\n4 in'
ok 'a command is run in the end' test -e "$work/run/last"
printf '%s\n' '# A part.' 'to $RUN/part run echo $2 $1' >"$pipelines/parts/part.list"
ok 'a part has words of its own' eval "steps 'use part x \"y z\"' &&
    grep -qx 'y z x' '$work/run/part'"
mkdir "$work/own/parts"
echo 'to $RUN/part run echo mine $1' >"$work/own/parts/part.list"
ok 'one beside the list comes first' eval "steps 'use part x' &&
    grep -qx 'mine x' '$work/run/part'"
rm -r "$work/run/last" "$work/own/parts"
ok 'a step that fails is the last: its exit code' exits 3 steps \
    'finally touch RUN/last' 'run sh -c "exit 3"' 'run touch RUN/not'
ok 'but for that of the end' test -e "$work/run/last" -a ! -e "$work/run/not"
ok 'a command whose words are wanted fails: its exit code' exits 4 steps \
    'let a sh -c "exit 4"' 'fail no'
for wrong in "2|want one of in.out|--way|up" '2|want a whole number|--size|x'; do
    IFS='|' read -r code why option value <<<"$wrong"
    more=(here "$option" "$value")
    ok "a wrong value of an option: $code" refuses "$code" "$why" steps
done
more=()
echo 'if $1 use twin' >"$pipelines/parts/twin.list"
echo 'use twice' >"$pipelines/parts/twice.list"
while IFS='|' read -r code why line; do
    ok "refused: $line" refuses "$code" "$why" steps '' "$line"
done <<'END'
1|./steps:6: no step 'lern'|lern data
1|./steps:6: '.nobody' is not|run echo $nobody
1|./steps:6: 'let' wants 2 words|let a
1|no command 'nope' for 'nope'|run nope
1|no part 'nope': neither './parts/nope.list' nor .*|use nope
1|parts/twin.list' uses itself|use twin again
1|parts/twice.list' uses itself|use twice
1|./steps:6: the line ends early|if
1|./steps:6: the line ends early|finally
1|^foil run ./steps: my word$|fail 'my word'
2|^foil run ./steps: my word$|misuse 'my word'
END
done_testing
