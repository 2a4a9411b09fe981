#!/usr/bin/env bash
# The script of a pipeline with fake stages: each runs the commands in $work/do/STAGE, or
# waits for SIGTERM.
# shellcheck disable=SC2016,SC1003 # the fakes expand variables in their commands
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

# begin STAGE=COMMANDS... : deletes the last run and sets the commands of the fakes
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
        2>"$work/messages" || code=$?
    cat "$work/messages" >&2
    return "$code"
}

started() {
    grep -c "^$1" "$work/started"
}

# Commands of a stage that wait until trainer, selector and two augmenters have started.
all_up='until [[ $(grep -c . "$work/started") -ge 4 ]]; do sleep 0.01; done;'

nothing_left() {
    local pid
    while read -r pid; do
        ! kill -0 "$pid" 2>/dev/null || { echo "$pid is left"; return 1; }
    done < <(cat "$work"/pids.*)
}

# ------------------------------------------------------- the command line

ok 'foil run try --help prints to stdout and exits with 0' try --help
ok '--help has the sentence of the pipeline' \
    grep -q '^foil run try: Try the stages\.$' "$work/out"
ok 'an unknown option exits with 2' refuses 2 "no option '--nonsense'" \
    try DATA --nonsense x
ok 'a pipeline without data exits with 2' refuses 2 'needs DATA \[TEST\]' try
ok 'too many operands exit with 2' refuses 2 "unexpected 'c'" try a b c
ok 'a value that is not a number exits with 2' \
    refuses 2 "--epochs 'many': want a whole number" \
    try DATA --epochs many
ok 'an option without a value exits with 2' refuses 2 'needs a value' \
    "$work/bin/foil" run try DATA --epochs
ok '--augmenters 0 exits with 2' refuses 2 "--augmenters '0'" try DATA --augmenters 0

# ------------------------------------------------------------- normal end

begin "train=$all_up echo loss; exit 0"
ok 'the run ends with the trainer' try DATA --epochs 07 --batch=32
ok 'the script continues after learn' grep -q '^learnt from DATA$' "$work/out"
ok 'the other stages get SIGTERM' test "$(sort "$work/ended" | tr '\n' ' ')" = \
    'augment augment select '
ok 'no process is left after the run' nothing_left
ok 'the selector gets epochs, batch and data' grep -qx \
    "select -r $work/run --seed 1 --batch 32 --epochs 7 DATA" "$work/started"
ok 'the run directory has mode 700' \
    test "$(stat -c %a "$work/run")" = 700
ok 'each feeder has its log' \
    ls "$work/run/log/select.log" "$work/run/log/augment-2.log"

begin "train=$all_up exit 0"
ok '--train passes options to the trainer' \
    try DATA --train '--lr 0.1 --clip 3' --train=--fast
ok 'options of --train override those of the pipeline' grep -q \
    '^train .* --optim sgd,nesterov --lr 0.1 --clip 3 --fast$' "$work/started"
ok 'an overridden option is passed once' exits 1 grep -q 'lr 0.5' "$work/started"

begin "train=$all_up exit 0"
ok 'an option of one stage needs no prefix' try DATA --room 3 --optim ,no-nesterov
ok 'the stage gets the option and its value' \
    grep -q '^augment .* --room 3' "$work/started"
ok 'a flag of the pipeline can be negated' \
    grep -q '^train .* --optim sgd,no-nesterov$' "$work/started"
ok '--no- before an option with a value exits with 2' refuses 2 "no option '--no-room'" \
    try DATA --no-room

begin "train=$all_up exit 0"
echo '{"keep_features":3,"samples":64,"largest":32,"least":32}' \
    >"$work/do/dry-select"
ok 'a plan that needs features runs' try DATA
ok 'the trainer gets --keep-features from the plan' \
    grep -q '^train .* --keep-features 3$' "$work/started"
begin "train=$all_up exit 0"
echo '{"keep_features":3,"samples":64,"largest":32,"least":32}' \
    >"$work/do/dry-select"
ok '--keep-features of the user runs' try DATA --train '--keep-features 5'
ok '--keep-features of the user overrides the plan' \
    grep -q '^train .* --optim sgd,nesterov --keep-features 5$' \
    "$work/started"

mkdir -p "$work/run/latest"
ok 'an existing run without --resume exits with 1' \
    refuses 1 "holds a run: add --resume to continue it" try DATA
touch "$work/DATA" # a resumed run needs its data
ok '--resume continues an existing run' try DATA --resume
ok 'the trainer gets --resume' grep -q '^train .*--resume' "$work/started"

# a user's script, outside of the pipelines
mkdir "$work/own"
cp "$pipelines/try" "$work/own/mine.sh"
own() {
    (cd "$work/own" && timeout -k 5 "$patience" "$work/bin/foil" run "$@")
}
begin "train=$all_up exit 0"
ok "a user's script is a pipeline" own ./mine.sh DATA --seed 3
ok "a user's script continues after learn" grep -q '^learnt from DATA$' "$work/out"
ok 'the run directory has the name of the script' test -d "$work/own/run/mine"
ok 'the run stores the path of the script' \
    grep -qx "pipeline $work/own/mine.sh" "$work/own/run/mine/command"
begin "train=$all_up exit 0"
mkdir "$work/own/run/mine/latest"
touch "$work/own/DATA"
ok '--resume -r finds the script of the run' own --resume -r run/mine
ok '--resume passes the options of the run' grep -q '^train .*--seed 3.* --resume' \
    "$work/started"
ok "messages of a user's script name its path" refuses 2 \
    "^foil run ./mine.sh: no option '--nonsense'" own ./mine.sh --nonsense x
ok '--resume by another pipeline exits with 1' refuses 1 \
    "is a run of '$work/own/mine.sh'" "$work/bin/foil" run try DATA --resume \
    -r "$work/own/run/mine"

# ----------------------------------------------------------------- faults

begin 'train=sleep 0.1; exit 7'
ok 'a failing trainer ends the pipeline with its exit code' exits 7 try DATA
ok 'the pipeline reports the exit code of the trainer' \
    grep -q '^foil run try: train ended with exit code 7$' \
    "$work/messages"
ok 'no process is left after a failing trainer' nothing_left

begin "select=$all_up echo select: no such data set >&2; exit 1"
ok 'a failing selector ends the pipeline with its exit code' exits 1 try DATA
ok 'the pipeline names the log of the selector' grep -q \
    '^foil run try: select ended with exit code 1; its log is ' "$work/messages"
ok 'the pipeline prints the error of the selector' \
    grep -q '^select: no such data set$' "$work/messages"
ok 'the trainer gets SIGTERM after a failing selector' grep -q train "$work/ended"
ok 'no process is left after a failing selector' nothing_left

begin 'select=printf "%s\n" old{1..9}; exit 2'
ok 'a selector with a long log fails' exits 2 try DATA
ok 'the pipeline prints the last five lines of its log' \
    test "$(grep -c '^old[5-9]$' "$work/messages")/$(grep -c ^old "$work/messages")" = \
    5/5
begin 'select=printf "%s\n" "no such plan" "see --help"; exit 2'
mkdir -p "$work/run/log"
printf '%s\n' old{1..9} >"$work/run/log/select.log"
ok 'a selector with a short log fails' exits 2 try DATA
ok 'the pipeline prints its whole log' test "$(head -n 3 "$work/messages" | tail -n 2 |
    tr '\n' /)" = 'no such plan/see --help/'
ok 'the pipeline prints no log of an earlier run' exits 1 grep -q ^old "$work/messages"

begin 'select=kill -KILL $$' 'train=sleep 30; exit 0'
ok 'a selector that is killed three times ends the pipeline with 137' \
    exits 137 try DATA --restarts 2
ok '--restarts 2 starts a selector three times' test "$(started select)" -eq 3
ok 'no process is left after a selector was killed' nothing_left

kill_one='! mkdir "$work/do/killed" 2>/dev/null || kill -KILL $$'
wait_for_3='until [[ $(wc -l <"$work/pids.augment") -eq 3 ]]; do sleep 0.01; done'
begin "augment=$kill_one" "train=$wait_for_3 2>/dev/null; exit 0"
ok 'a killed augmenter is restarted' try DATA
ok 'the pipeline reports the restart' grep -qE \
    'augment-[12] was killed by signal 9; restarting it' "$work/messages"

is_said='until grep -qs "other copies" "$work/messages"; do sleep 0.01; done;'
begin "augment=$kill_one" "train=$is_said exit 0"
ok '--restarts 0: the run continues with the other augmenter' try DATA --restarts 0
ok '--restarts 0: the pipeline reports the killed augmenter' grep -qE \
    'augment-[12] was killed by signal 9; its other copies continue' "$work/messages"
begin 'augment=exit 1'
ok 'the run ends with 1 without any augmenter' exits 1 try DATA

begin 'select=trap "" TERM' "train=$all_up exit 0"
ok 'a stage that ignores SIGTERM is killed' try DATA
ok 'no process is left after a stage that ignores SIGTERM' nothing_left

# ------------------------------------------------- signals

# stopped_by SIGNAL : sends it to the running pipeline, as init would
stopped_by() {
    "$work/bin/foil" run try DATA -r "$work/run" &
    local pid=$!
    becomes_true test -e "$work/do/ready" || return
    kill -"$1" "$pid"
    wait "$pid"
}

saves="trap 'echo saved >\"\$work/do/saved\"; exit 0' TERM; $all_up"
begin "train=$saves touch \"\$work/do/ready\""
ok 'SIGTERM ends the pipeline with 143' exits 143 stopped_by TERM
ok 'SIGTERM: the trainer saves' grep -q saved "$work/do/saved"
ok 'SIGTERM leaves no process' nothing_left

# Ctrl-C sends SIGINT to the pipeline, but not to the stages.
begin "train=$saves kill -INT \$(ps -o ppid= \$(ps -o ppid= \$PPID))"
ok 'SIGINT ends the pipeline with 130' exits 130 try DATA
ok 'SIGINT: the pipeline prints how to resume' grep -qF \
    "foil run try: stopped; 'foil run --resume -r $work/run' continues" \
    "$work/messages"
ok 'SIGINT: the trainer saves' grep -q saved "$work/do/saved"
ok 'SIGINT leaves no process' nothing_left

interrupted_twice() {
    "$work/bin/foil" run try DATA -r "$work/run" 2>"$work/messages" &
    local pid=$!
    becomes_true test -e "$work/do/ready" || return
    kill -TERM "$pid"
    becomes_true grep -q 'second signal' "$work/messages"
    kill -TERM "$pid"
    wait "$pid"
}
begin "train=trap '' TERM; $all_up touch \"\$work/do/ready\""
ok 'a second signal ends a trainer that ignores SIGTERM' exits 143 \
    interrupted_twice
ok 'a second signal leaves no process' nothing_left

begin "train=$all_up touch \"\$work/do/ready\""
killed() {
    exits 137 stopped_by KILL
    becomes_true nothing_left
}
ok 'SIGKILL of the pipeline leaves no process' killed

killed_shell() {
    "$work/bin/foil" run try DATA -r "$work/run" 2>"$work/messages" &
    local pid=$! code=0
    becomes_true test -e "$work/do/ready" || return
    pkill -KILL -s "$(pgrep -P "$pid" -x sh)" -x sh
    wait "$pid" || code=$?
    cat "$work/messages"
    test "$code" -eq 137 && becomes_true nothing_left
}
begin "train=$all_up touch \"\$work/do/ready\""
ok 'SIGKILL of its shell ends the pipeline with 137, without processes' killed_shell
ok 'the pipeline reports that its shell was killed' \
    grep -qx 'foil run try: the shell was killed by signal 9' \
    "$work/messages"

killed_step() {
    "$work/bin/foil" run try DATA -r "$work/run" &
    local pid=$! code=0
    becomes_true test -e "$work/do/ready" || return
    pkill -KILL -f -- '^foil-run --learn DATA'
    wait "$pid" || code=$?
    test "$code" -eq 137 && becomes_true nothing_left
}
begin "train=$all_up touch \"\$work/do/ready\""
ok 'SIGKILL of learn ends the pipeline with 137, without processes' killed_step

# ------------------------------------------------------------ other scripts

# script LINE... : runs a script of a header and these lines, with $work/run
script() {
    printf '%s\n' '#!/usr/bin/env foil-run' '# Steps.' '#: operands [DATA]' \
        '#: option size N 3 "of it"' '#: option way in|out in \' '#: "which"' \
        '' "$@" >"$work/own/steps"
    chmod 755 "$work/own/steps"
    (cd "$work/own" && timeout -k 5 "$patience" "$work/bin/foil" run ./steps "${more[@]}" -r "$work/run")
}
more=(here --size 04)
begin
ok 'a script has operands, options and RUN as variables' script \
    'echo "$DATA $SIZE $WAY $EPOCHS" >"$RUN/values"' 'trap "touch $RUN/last" EXIT'
ok 'the variables have the given values' grep -qx 'here 4 in 100' "$work/run/values"
ok 'a trap on EXIT runs' test -e "$work/run/last"
rm "$work/run/last"
ok 'a command that fails ends the script with its exit code' exits 3 script \
    'trap "touch $RUN/last" EXIT' 'sh -c "exit 3"' 'touch "$RUN/not"'
ok 'a script that fails runs its trap and no further command' \
    test -e "$work/run/last" -a ! -e "$work/run/not"
ok 'a variable that is not set ends the script' refuses 2 'nobody' script 'echo $nobody'
ok 'a script runs by its first line' env PATH="$work/bin:$PATH" \
    "$work/own/steps" --help
ok '--trace prints the commands' eval "more+=(--trace)
    script 'echo \"size \$SIZE\"' 2>'$work/messages' &&
        grep -q '+ echo size 4' '$work/messages'"
more=(here)
more=(here --train.lr 2)
script 'options train -- --lr 3 --steps 5' 'options train.lr' 'options train.steps' \
    'options train' >"$work/options"
ok 'options prints the options of a stage, or the value of one' \
    diff "$work/options" - <<'END'
--lr 3 --steps 5
2

--lr 2
END
more=(here)
rm -rf "$work/run"
ok 'a script that makes nothing fails' exits 3 script 'exit 3'
ok 'a script that makes nothing leaves no run directory' test ! -e "$work/run"
more=(here --stages)
ok '--stages runs no commands of a script' \
    script 'make-key "$RUN/keys" train' 'learn "$DATA"' \
    'touch "$RUN/not"'
ok '--stages prints the list of stages' \
    grep -q "^train  *main  *never  *foil-train -r " "$work/out"
ok '--stages makes no run directory' test ! -e "$work/run"

# a loop of trainings, each in its own folder and only once
more=(here)
begin "train=mkdir -p \$RUN/latest; $all_up exit 0"
loop='for tau in 0.1 0.2; do
    RUN=$FOIL_RUN/$tau
    learn "$DATA" --train.objective ",tau=$tau" --augmenters 1
done'
sed -i 's/-ge 4/-ge 3/' "$work/do/train"
ok 'a script trains in a loop' script "$loop"
ok 'each training of the loop has its own option' \
    test "$(grep -c '^train .*/run/0.[12] --objective simclr,tau=0.[12] ' \
    "$work/started")" -eq 2
more+=(--resume)
touch "$work/own/here"
ok 'a script with a loop resumes' script "$loop"
more=(nosuch)
ok 'missing data exit with 1 and the command for another place' refuses 1 \
    "give the new place by 'foil run ./steps PLACE --resume -r $work/run --override DATA'" \
    script "$loop"

old=('#: train --momentum 0.9' 'learn "$DATA"')
for words in here "--help here" "--stages here"; do
    read -ra more <<<"$words"
    begin "train=$all_up exit 0"
    ok "an old spelling in the header is accepted: $words" script "${old[@]}"
    ok "an old spelling is reported only for a training: $words" \
        test "$(grep -c 'momentum 0.9 is now' "$work/out")" = "$((2 - ${#more[@]}))"
done
begin

for wrong in "2|want one of in.out|--way|up" '2|want a whole number|--size|x'; do
    IFS='|' read -r code why option value <<<"$wrong"
    more=(here "$option" "$value")
    ok "an invalid value of $option exits with $code" refuses "$code" "$why" script
done
more=(here --help)
ok 'a default before its option is accepted' script '#: default shots 07' \
    '#: option shots N 3 "of it"'
ok 'the option has that default' grep -q -- '--shots N  *of it \[7\]' "$work/out"
more=()
while IFS='|' read -r code why line; do
    ok "an invalid script is refused: $line" refuses "$code" "$why" script "$line"
done <<'END'
1|./steps:8: no header line 'lern'|#: lern data
1|./steps:8: 'default' needs 2 words|#: default a
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
1|learn needs the data set|learn
1|unexpected 'b' after 'a'|learn a b
2|no option '--nonsense'|learn --nonsense a
END
printf '%s\n' '# Steps.' 'pipeline DATA' 'learn $DATA' >"$work/own/old.list"
ok 'a list of steps exits with 1' refuses 1 \
    "'./old.list' is a list of steps, which this version does not run" own ./old.list x
done_testing
