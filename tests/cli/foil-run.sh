#!/usr/bin/env bash
# foil-run with stages that are short shell commands: what it starts, logs,
# starts again, ends and says.
# shellcheck disable=SC2016 # stages expand what stands in their commands
# Mostly waits, 10 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
terminal=$(cd "${0%/*}" && pwd)/terminal.py
cd "$work" || exit 1

common foil-run
foil_run=$BIN/foil-run

# list LINE... : these are the stages of $work/list, and nothing has been run
list() {
    rm -rf run pids* started ended ready
    printf '%s\n' "$@" >list
}

# runs OPTION... : the list, what it says in $work/said, in a minute
runs() {
    local code=0
    timeout -k 5 "$patience" "$foil_run" "$@" list 2>said || code=$?
    cat said
    return "$code"
}

# said SENTENCE : a whole line of it, with the name in front
said() {
    cat said
    grep -qxF "foil-run: ${1//$'\n'/}" said
}

# A stage: ./stage NAME COMMANDS notes that it was started and runs these.
cat >stage <<'end'
#!/usr/bin/env bash
work_on() { while :; do sleep 0.05; done; }
deaf() { trap '' TERM; work_on; }
by_user() {
    trap 'echo by USR1 >>ended; exit 0' USR1
    trap '' TERM
    touch ready
    work_on
}
until_started() {
    until [[ $(wc -l <started) -ge $1 ]]; do sleep 0.01; done
}
name=$1
trap 'echo "$name" >>ended; exit 0' TERM
echo $$ >>pids
echo "$name" >>started
eval "$2"
end
chmod 755 stage

lines() {
    sort "$1" 2>/dev/null | paste -sd ' '
}

nothing_left() {
    local pid
    while read -r pid; do
        ! kill -0 "$pid" 2>/dev/null || { echo "$pid is left"; return 1; }
    done < <(cat pids*)
}

# ----------------------------------------------------- one, three, eight

list 'only 1 never echo hello'
ok 'a list of one stage ends with it' runs
ok 'its output is ours' test "$(cat out)" = hello
ok 'it needs no run directory' exits 1 test -e run
ok 'a list may come from standard input' bash -c "'$foil_run' <list"
list 'only main never sh -c "exit 7"'
ok 'the exit code is that of the main stage' exits 7 runs
ok 'which is said' said 'only ended with exit code 7'
list "only main never sh -c 'kill -9 \$\$'"
ok 'a main stage that is killed: 137' exits 137 runs
ok 'which is said' said 'only was killed by signal 9'

list "train main never ./stage train 'until_started 4; echo loss'" \
    "augment 2 never ./stage augment 'echo views; work_on'" \
    "select 1 never ./stage select 'echo plan >&2; work_on'"
ok 'a run of three stages ends when the main one does' runs
ok 'whose output is ours' test "$(cat out)" = loss
ok 'all were started' test "$(lines started)" = \
    'augment augment select train'
ok 'the others are told to end' test "$(lines ended)" = \
    'augment augment select'
ok 'the others are told to end, nothing is left' nothing_left
ok 'copies have a log each' grep -qx views run/list/log/augment-1.log \
    run/list/log/augment-2.log
ok 'standard error goes to the log, too' grep -qx plan run/list/log/select.log
ok 'the run directory is ours alone' test "$(stat -c %a run/list)" = 700
rm started
ok 'a second run adds to the logs' runs
ok 'of the same folder' test "$(wc -l <run/list/log/select.log)" -eq 2
rm started
ok '-r names another one' runs -r a/b
ok 'which has its logs' test -s a/b/log/select.log
list "only 1 never ./stage only 'echo \$RUN'"
ok 'RUN is the run directory' bash -c "'$foil_run' -r a/b list | grep -qx a/b"

stages=("train main never ./stage train 'until_started 8'")
for i in {1..7}; do
    stages+=("stage$i 1 never ./stage s$i work_on")
done
list "${stages[@]}"
ok 'a run of eight stages ends when the main one does' runs
ok 'with a log for seven' test "$(find run/list/log -name '*.log' | wc -l)" -eq 7
ok 'which are told to end' test "$(lines ended)" = 's1 s2 s3 s4 s5 s6 s7'
ok 'which are told to end, nothing is left' nothing_left

# ------------------------------------------------------------- a stage dies

list 'train main never ./stage train work_on' \
    "select 1 never sh -c 'seq 9; echo no such data >&2; exit 3'"
ok 'a stage that fails ends the run with its exit code' exits 3 runs
ok 'in a sentence' said \
    "select ended with exit code 3; its log is 'run/list/log/select.log'"
ok 'with the last five lines of its log' \
    test "$(head -n 5 said | paste -sd ' ')" = '6 7 8 9 no such data'
ok 'with the last five lines of its log, nothing is left' nothing_left
list 'train main never ./stage train work_on' \
    "select 1 never sh -c 'printf no; exit 3'"
mkdir -p run/list/log
seq 9 >run/list/log/select.log
ok 'one that says little and fails' exits 3 runs
ok 'is quoted with nothing of an earlier run' test "$(head -n 1 said)" = no
list "train main never ./stage train 'until_started 4'" \
    'done 3 never ./stage done true'
ok 'a stage that ends with 0 is done, and the run goes on' runs

list 'train main never sleep 60' \
    "select 1 killed,2 ./stage select 'kill -9 \$\$'"
ok 'a stage that is killed again and again: 137' exits 137 runs
ok 'was started three times' test "$(wc -l <started)" -eq 3
ok 'the first time at once' said \
    'select was killed by signal 9; restarting it'
ok 'the second time after a pause' said \
    'select was killed by signal 9; restarting it in 0.1 s'
list 'train main never sleep 60' "select 1 killed ./stage select 'exit 1'"
ok "'killed' is not for one that fails" exits 1 runs
ok 'it was started once' test "$(wc -l <started)" -eq 1
list 'train main never sleep 60' "select 1 failed,1 ./stage select 'exit 1'"
ok "'failed' is" exits 1 runs
ok 'it was started twice' test "$(wc -l <started)" -eq 2
list "train main never ./stage train 'until_started 4'" \
    'select 1 always ./stage select true'
ok "'always' is also for one that ends with 0" runs
ok 'without a bound it goes on' said \
    'select ended with exit code 0; restarting it in 0.1 s'
list "train main killed,1 ./stage t 'mkdir ready || exit 5; kill -9 \$\$'"
ok 'a main stage may be started again' exits 5 runs
list "train main never ./stage t 'until grep -s code said; do sleep 0.01; done'" \
    "augment 2 never ./stage a 'mkdir ready || work_on; exit 4'"
ok 'a copy that fails is no failure while another one works' runs
ok 'but is said' grep -qE \
    'augment-[12] ended with exit code 4; its other copies continue' said

# ------------------------------------------------ what cannot be started

list 'train main never ./stage train' '' 'select 1 never nope --all'
ok 'a command that does not exist is refused: 1' refuses 1 \
    "^foil-run: list:3: no command 'nope' for 'select'$" "$foil_run" list
ok 'before anything is started' exits 1 test -e started
ok 'no run directory is made' exits 1 test -e run
list 'train main never ./stage train' 'select 1 never true'
ok 'a list may be checked alone' runs --dry-run
ok 'nothing is started' exits 1 test -e started
ok 'and none made' exits 1 test -e run
list 'train main never ./list'
ok 'a file that is no program is refused: 1' refuses 1 "no command './list'" \
    "$foil_run" list
printf '#!/no/interpreter\n' >script
chmod 755 script
list 'train main never ./stage train work_on' 'select 1 never ./script'
ok 'a script without its interpreter: 1' exits 1 runs
ok 'is named' said "cannot start './script' for 'select': No such file or\
 directory"
ok 'what was started before it is ended' nothing_left
list 'train main never true' 'select twice never true'
ok 'a wrong line is named by its number: 1' refuses 1 \
    "list:2: no number of copies 'twice'" "$foil_run" list
ok 'no such list: 1' refuses 1 "cannot open 'none'" "$foil_run" none
ok 'a list without end: 1' refuses 1 'larger than' "$foil_run" /dev/zero
printf 'a main never true\0' >list
ok 'a zero byte in it: 1' refuses 1 "'list' is no list of stages" \
    "$foil_run" list
list 'a main never true' 'b 1 never true'
ok 'several stages from standard input without -r: 2' refuses 2 'needs -r' \
    bash -c "exec '$foil_run' <list"
ok 'two lists: 2' refuses 2 'list' "$foil_run" list list

list 'a main never sleep 60' "b 1 never sh -c 'echo lost || exit 9; sleep 60'"
mkdir -p run/list/log
ln -s /dev/full run/list/log/b.log
ok 'a stage whose log has no room fails by itself' exits 9 runs
ok 'and is said, without lines' said \
    "b ended with exit code 9; its log is 'run/list/log/b.log'"
rm -r run/list/log/b.log
mkdir run/list/log/b.log
ok 'a log that cannot be written: 1' exits 1 runs
ok 'is named' said "cannot write 'run/list/log/b.log': Is a directory"

rmdir run/list/log/b.log

exec {lock}<run/list
flock "$lock"
ok 'a run directory that another one has: 1' refuses 1 \
    "another foil run uses 'run/list'" "$foil_run" list
exec {lock}<&-

# ---------------------------------------------------- what does not end

list "train main never ./stage train 'until_started 4'" \
    'deaf 2 never ./stage deaf deaf' 'last 1 never ./stage last work_on'
ok 'a stage that ignores SIGTERM is killed' runs --grace 0.2
ok 'a stage that ignores SIGTERM is killed, nothing is left' nothing_left
list "train main never ./stage train 'until_started 4'" \
    "parent 1 never ./stage parent './stage child deaf & ./stage other work_on'"
ok 'what a stage has started ends with it' runs --grace 0.2
ok 'what a stage has started ends with it, nothing is left' nothing_left

# begun OPTION... : the list, in the background, up to the file ready
begun() {
    "$foil_run" "$@" list >begun.out 2>said &
    begun=$!
    becomes_true test -e ready
}
ended_by() {
    begun || return
    kill "-$1" "$begun"
    wait "$begun"
}
stages=("train main never ./stage train 'until_started 4; touch ready; work_on'"
    'feed 3 killed,9 ./stage feed work_on')
for signal in INT:130 TERM:143 HUP:129; do
    list "${stages[@]}"
    ok "SIG${signal%:*} ends all: ${signal#*:}" exits "${signal#*:}" \
        ended_by "${signal%:*}"
    ok 'and that is said' said 'ending train, then the other
 stages; a second signal kills all'
    ok 'the main stage first' test "$(head -n 1 ended)/$(wc -l <ended)" = \
        train/4
    ok 'the main stage first, nothing is left' nothing_left
done
list "train main,USR1 never ./stage train by_user" 'feed 1 killed,9 ./stage feed work_on'
ok 'a main stage that wants SIGUSR1, at SIGTERM: 143' exits 143 ended_by TERM
ok 'has got that' test "$(head -n 1 ended)" = 'by USR1'
second() {
    begun || return
    kill -INT "$begun"
    becomes_true grep -q 'second signal' said
    kill -INT "$begun"
    wait "$begun"
}
list "train main never ./stage train 'touch ready; deaf'" \
    'feed 1 never ./stage feed work_on'
ok 'a second SIGINT kills all: 130' exits 130 second
ok 'at once' said 'killing all stages'
ok 'at once, nothing is left' nothing_left

# on a terminal a stage may have drawn a line of progress, and Ctrl-C shows ^C
interrupted() {
    /usr/bin/python3 "$terminal" 60 24 '^C' '7 steps' -- "$foil_run" list >said
}
list "train main never sh -c 'printf \"7 steps\"; exec ./stage train work_on'"
ok 'Ctrl-C on a terminal: 130' exits 130 interrupted
ok 'what is said wipes the line that is drawn' grep -qaF \
    $'\r\e[Kfoil-run: ending train' said

killed() {
    begun --grace 0.3 || return
    kill -KILL "$begun"
    exits 137 wait "$begun"
    becomes_true nothing_left
}
list "train main never ./stage train 'until_started 4; touch ready; work_on'" \
    'deaf 1 never ./stage deaf deaf' \
    "parent 1 never ./stage parent './stage child deaf & work_on'"
ok 'SIGKILL leaves nobody, not even one that ignores SIGTERM' killed
ok 'the main stage was asked to end' grep -qx train ended

list 'only main never sh -c "exit 3"'
ok 'another command takes the place of the first word of one' exits 5 runs \
    --command "only=sh -c 'exit 5' sh"
ok 'that of no stage is refused: 1' refuses 1 "command 'x=y': want STAGE=" \
    "$foil_run" --command x=y list
done_testing
