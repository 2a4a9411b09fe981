#!/usr/bin/env bash
# foil-run with stages that are short shell commands: how it starts, logs, restarts and
# ends them, and its messages.
# shellcheck disable=SC2016 # stages expand variables in their commands
# Mostly waits, 10 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
terminal=$(cd "${0%/*}" && pwd)/terminal.py
cd "$work" || exit 1

common foil-run
foil_run=$BIN/foil-run

# list LINE... : writes $work/list with these stages and deletes files of earlier runs
list() {
    rm -rf run pids* started ended ready
    printf '%s\n' "$@" >list
}

# runs OPTION... : runs the list; messages go to $work/messages
runs() {
    local code=0
    timeout -k 5 "$patience" "$foil_run" "$@" list 2>messages || code=$?
    cat messages
    return "$code"
}

# has_message SENTENCE : a whole line of the messages, after "foil-run: "
has_message() {
    cat messages
    grep -qxF "foil-run: ${1//$'\n'/}" messages
}

# ./stage NAME COMMANDS : a stage that notes its start and runs these commands
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
ok 'the output of the main stage is that of foil-run' test "$(cat out)" = hello
ok 'one stage needs no run directory' exits 1 test -e run
ok 'foil-run reads a list on standard input' bash -c "'$foil_run' <list"
list 'only main never sh -c "exit 7"'
ok 'foil-run exits with the exit code of the main stage' exits 7 runs
ok 'foil-run reports the exit code of the main stage' \
    has_message 'only ended with exit code 7'
list "only main never sh -c 'kill -9 \$\$'"
ok 'foil-run exits with 137 if the main stage is killed' exits 137 runs
ok 'foil-run reports that the main stage was killed' \
    has_message 'only was killed by signal 9'

list "train main never ./stage train 'until_started 4; echo loss'" \
    "augment 2 never ./stage augment 'echo views; work_on'" \
    "select 1 never ./stage select 'echo plan >&2; work_on'"
ok 'a run of three stages ends with the main stage' runs
ok 'only the main stage writes to the output' test "$(cat out)" = loss
ok 'foil-run starts all stages' test "$(lines started)" = \
    'augment augment select train'
ok 'foil-run sends SIGTERM to the other stages' test "$(lines ended)" = \
    'augment augment select'
ok 'foil-run leaves no process of three stages' nothing_left
ok 'each copy of a stage has its own log' grep -qx views run/list/log/augment-1.log \
    run/list/log/augment-2.log
ok 'standard error of a stage goes to its log' grep -qx plan run/list/log/select.log
ok 'the run directory has mode 700' test "$(stat -c %a run/list)" = 700
rm started
ok 'a second run of the same list succeeds' runs
ok 'a second run appends to the logs' test "$(wc -l <run/list/log/select.log)" -eq 2
rm started
ok '-r names another run directory' runs -r a/b
ok '-r sets the folder of the logs' test -s a/b/log/select.log
list "only 1 never ./stage only 'echo \$RUN'"
ok 'stages get the run directory as RUN' bash -c "'$foil_run' -r a/b list | grep -qx a/b"

stages=("train main never ./stage train 'until_started 8'")
for i in {1..7}; do
    stages+=("stage$i 1 never ./stage s$i work_on")
done
list "${stages[@]}"
ok 'a run of eight stages ends with the main stage' runs
ok 'seven stages have a log' test "$(find run/list/log -name '*.log' | wc -l)" -eq 7
ok 'foil-run sends SIGTERM to seven stages' test "$(lines ended)" = 's1 s2 s3 s4 s5 s6 s7'
ok 'foil-run leaves no process of eight stages' nothing_left

# ------------------------------------------------------------- a stage dies

list 'train main never ./stage train work_on' \
    "select 1 never sh -c 'seq 9; echo no such data >&2; exit 3'"
ok 'a stage that fails ends the run with its exit code' exits 3 runs
ok 'foil-run names the failed stage and its log' has_message \
    "select ended with exit code 3; its log is 'run/list/log/select.log'"
ok 'foil-run prints the last five lines of the log' \
    test "$(head -n 5 messages | paste -sd ' ')" = '6 7 8 9 no such data'
ok 'foil-run leaves no process after a failed stage' nothing_left
list 'train main never ./stage train work_on' \
    "select 1 never sh -c 'printf no; exit 3'"
mkdir -p run/list/log
seq 9 >run/list/log/select.log
ok 'a stage with a short log fails' exits 3 runs
ok 'foil-run prints no lines of an earlier run' test "$(head -n 1 messages)" = no
list "train main never ./stage train 'until grep -s without messages; do sleep 0.01; done'" \
    "judge 1 optional ./stage judge 'echo no light >&2; exit 3'"
ok 'a run continues after an optional stage fails' runs
ok 'foil-run reports it once, with its log' test "$(grep -c judge messages)" = 1 -a \
    "$(paste -sd ' ' messages)" = "no light foil-run: judge ended with exit code 3; the\
 run continues without it; its log is 'run/list/log/judge.log'"
list "train main never ./stage train 'until_started 4'" \
    'done 3 never ./stage done true'
ok 'a run continues after a stage exits with 0' runs

list 'train main never sleep 60' \
    "select 1 killed,2 ./stage select 'kill -9 \$\$'"
ok 'a stage that is killed three times ends the run with 137' exits 137 runs
ok 'killed,2 restarts a killed stage twice' test "$(wc -l <started)" -eq 3
ok 'foil-run restarts a killed stage at once' has_message \
    'select was killed by signal 9; restarting it'
ok 'foil-run restarts a killed stage the second time after 0.1 s' has_message \
    'select was killed by signal 9; restarting it in 0.1 s'
list 'train main never sleep 60' "select 1 killed ./stage select 'exit 1'"
ok "killed does not restart a stage that fails" exits 1 runs
ok 'a stage that fails is started once' test "$(wc -l <started)" -eq 1
list 'train main never sleep 60' "select 1 failed,1 ./stage select 'exit 1'"
ok "failed,1 restarts a stage that fails" exits 1 runs
ok 'failed,1 starts a stage twice' test "$(wc -l <started)" -eq 2
list "train main never ./stage train 'until_started 4'" \
    'select 1 always ./stage select true'
ok "always restarts a stage that exits with 0" runs
ok 'foil-run reports the restart of a stage that exits with 0' has_message \
    'select ended with exit code 0; restarting it in 0.1 s'
list "train main killed,1 ./stage t 'mkdir ready || exit 5; kill -9 \$\$'"
ok 'a main stage can be restarted' exits 5 runs
list "train main never ./stage t 'until grep -s code messages; do sleep 0.01; done'" \
    "augment 2 never ./stage a 'mkdir ready || work_on; exit 4'"
ok 'a run continues while another copy of a failed stage runs' runs
ok 'foil-run reports a failed copy' grep -qE \
    'augment-[12] ended with exit code 4; its other copies continue' messages

# ------------------------------------------------ what cannot be started

list 'train main never ./stage train' '' 'select 1 never nope --all'
ok 'an unknown command exits with 1 and names its line' refuses 1 \
    "^foil-run: list:3: no command 'nope' for 'select'$" "$foil_run" list
ok 'an unknown command ends foil-run before it starts a stage' exits 1 test -e started
ok 'an unknown command leaves no run directory' exits 1 test -e run
list 'train main never ./stage train' 'select 1 never true'
ok '--dry-run checks the list' runs --dry-run
ok '--dry-run starts no stage' exits 1 test -e started
ok '--dry-run makes no run directory' exits 1 test -e run
list 'train main never ./list'
ok 'a command that is not a program exits with 1' refuses 1 "no command './list'" \
    "$foil_run" list
printf '#!/no/interpreter\n' >script
chmod 755 script
list 'train main never ./stage train work_on' 'select 1 never ./script'
ok 'a script without its interpreter exits with 1' exits 1 runs
ok 'foil-run names a script without its interpreter' \
    has_message "cannot start './script' for 'select': No such file or\
 directory"
ok 'foil-run ends the stages that it started before the error' nothing_left
list 'train main never true' 'select twice never true'
ok 'an invalid line exits with 1 and is named by its number' refuses 1 \
    "list:2: no number of copies 'twice'" "$foil_run" list
ok 'a missing list exits with 1' refuses 1 "cannot open 'none'" "$foil_run" none
ok 'a list without end exits with 1' refuses 1 'larger than' "$foil_run" /dev/zero
printf 'a main never true\0' >list
ok 'a list with a zero byte exits with 1' refuses 1 "'list' is no list of stages" \
    "$foil_run" list
list 'a main never true' 'b 1 never true'
ok 'several stages from standard input without -r exit with 2' refuses 2 'needs -r' \
    bash -c "exec '$foil_run' <list"
ok 'two lists exit with 2' refuses 2 'list' "$foil_run" list list

list 'a main never sleep 60' "b 1 never sh -c 'echo lost || exit 9; sleep 60'"
mkdir -p run/list/log
ln -s /dev/full run/list/log/b.log
ok 'a stage with a log on a full disk fails by itself' exits 9 runs
ok 'foil-run reports the stage without lines of its log' has_message \
    "b ended with exit code 9; its log is 'run/list/log/b.log'"
rm -r run/list/log/b.log
mkdir run/list/log/b.log
ok 'a log that cannot be written exits with 1' exits 1 runs
ok 'foil-run names a log that cannot be written' \
    has_message "cannot write 'run/list/log/b.log': Is a directory"

rmdir run/list/log/b.log

exec {lock}<run/list
flock "$lock"
ok 'a run directory in use exits with 1' refuses 1 \
    "another foil run uses 'run/list'" "$foil_run" list
exec {lock}<&-

# ---------------------------------------------------- what does not end

list "train main never ./stage train 'until_started 4'" \
    'deaf 2 never ./stage deaf deaf' 'last 1 never ./stage last work_on'
ok '--grace: a stage that ignores SIGTERM is killed' runs --grace 0.2
ok '--grace: no process that ignores SIGTERM is left' nothing_left
list "train main never ./stage train 'until_started 4'" \
    "parent 1 never ./stage parent './stage child deaf & ./stage other work_on'"
ok 'child processes of a stage end with the run' runs --grace 0.2
ok 'no child process of a stage is left' nothing_left

# start_run OPTION... : runs the list in the background until the file ready exists
start_run() {
    "$foil_run" "$@" list >run.out 2>messages &
    run_pid=$!
    becomes_true test -e ready
}
ended_by() {
    start_run || return
    kill "-$1" "$run_pid"
    wait "$run_pid"
}
stages=("train main never ./stage train 'until_started 4; touch ready; work_on'"
    'feed 3 killed,9 ./stage feed work_on')
for signal in INT:130 TERM:143 HUP:129; do
    list "${stages[@]}"
    ok "SIG${signal%:*} ends foil-run with ${signal#*:}" exits "${signal#*:}" \
        ended_by "${signal%:*}"
    ok "foil-run reports that SIG${signal%:*} ends the stages" has_message \
        'ending train, then the other
 stages; a second signal kills all'
    ok "SIG${signal%:*} ends the main stage first" \
        test "$(head -n 1 ended)/$(wc -l <ended)" = \
        train/4
    ok "no process is left after SIG${signal%:*}" nothing_left
done
list "train main,USR1 never ./stage train by_user" 'feed 1 killed,9 ./stage feed work_on'
ok 'SIGTERM ends a main stage that needs SIGUSR1: 143' exits 143 ended_by TERM
ok 'the main stage gets SIGUSR1' test "$(head -n 1 ended)" = 'by USR1'
second() {
    start_run || return
    kill -INT "$run_pid"
    becomes_true grep -q 'second signal' messages
    kill -INT "$run_pid"
    wait "$run_pid"
}
list "train main never ./stage train 'touch ready; deaf'" \
    'feed 1 never ./stage feed work_on'
ok 'a second SIGINT kills all stages: 130' exits 130 second
ok 'foil-run reports that it kills all stages' has_message 'killing all stages'
ok 'no process is left after a second SIGINT' nothing_left

# on a terminal, a stage may have drawn a line of progress, and Ctrl-C shows ^C
interrupted() {
    /usr/bin/python3 "$terminal" 60 24 '^C' '7 steps' -- "$foil_run" list >messages
}
list "train main never sh -c 'printf \"7 steps\"; exec ./stage train work_on'"
ok 'Ctrl-C on a terminal ends foil-run with 130' exits 130 interrupted
ok 'a message on a terminal erases the line of progress' grep -qaF \
    $'\r\e[Kfoil-run: ending train' messages

killed() {
    start_run --grace 0.3 || return
    kill -KILL "$run_pid"
    exits 137 wait "$run_pid"
    becomes_true nothing_left
}
list "train main never ./stage train 'until_started 4; touch ready; work_on'" \
    'deaf 1 never ./stage deaf deaf' \
    "parent 1 never ./stage parent './stage child deaf & work_on'"
ok 'SIGKILL of foil-run leaves no process, even one that ignores SIGTERM' killed
ok 'the main stage gets SIGTERM after SIGKILL of foil-run' grep -qx train ended

list 'only main never sh -c "exit 3"'
ok "--command replaces the first word of a stage's command" exits 5 runs \
    --command "only=sh -c 'exit 5' sh"
ok '--command of an unknown stage exits with 1' refuses 1 "command 'x=y': want STAGE=" \
    "$foil_run" --command x=y list
done_testing
