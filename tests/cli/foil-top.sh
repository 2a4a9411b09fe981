#!/usr/bin/env bash
# foil-top for its users: during a run, after it, without a run; on terminals of 60 and
# 200 columns and into a file.
# Mostly waits, 25 s
# shellcheck disable=SC2154 # stage() sets names of processes
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
top=$BIN/foil-top
terminal=$(cd "${0%/*}" && pwd)/terminal.py
export LC_ALL=C.UTF-8

common foil-top -r run
cd "$work" || exit 1
ok 'foil-top without a run exits with 2' refuses 2 'RUN is missing' "$top"
ok 'foil-top of a missing run exits with 1' \
    refuses 1 "there is no run 'nowhere'" "$top" -r nowhere
mkdir empty
ok 'foil-top of a run without trainer and steps exits with 1' \
    refuses 1 'no trainer sends messages' "$top" -r empty

# a trainer that has started and has sent nothing yet
/usr/bin/python3 -c 'import fcntl, os, time
lock = open("empty/lock", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print(os.getpid(), os.uname().nodename, file=lock, flush=True)
time.sleep(600)' &
silent=$!
waits_for empty/lock
ok 'foil-top of a trainer that has sent nothing exits with 0' "$top" --once -r empty
ok 'foil-top prints the PID of a trainer in a long step' grep -qx \
    "process $silent trains here, and has not sent anything yet: a long step" "$work/out"
kill "$silent"
# metrics that are not of foil
mkdir rogue
awk 'BEGIN { for (i = 1; i <= 100000; i++)
    printf "{\"total\":%d,\"epoch\":0,\"loss\":1,\"k\\u001b[31m\\u009b%d\":2}\n", i, i
}' >rogue/metrics.jsonl
ok 'foil-top reads metrics with 10^5 names' timeout "$patience" bash -c \
    "'$top' --once -r rogue >rogue.shown"
ok 'foil-top prints no escape sequences of names' \
    exits 1 grep -qP '\x1b|\xc2\x9b' rogue.shown
ok 'foil-top prints the other characters of names' grep -q '^k?\[31m??1 ' rogue.shown

"$BIN/foil-data" generate -o set.tar --size 16 24 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
# stage NAME OPTION... : starts a stage in the background; its PID is in $NAME
stage() {
    local name=$1
    shift
    "$BIN/foil-$name" -r run "$@" 2>>"$name.err" &
    printf -v "${name//-/_}" %s $!
}
stage train --threads 1 --deadline 600 --arch linear,hidden=6 --head none
# the trainer runs for a tenth of the time, which is enough for this test
at_times() {
    trap 'kill -CONT "$train"; exit' TERM
    while kill -STOP "$train" && nap 0.09 && kill -CONT "$train"; do
        nap 0.01
    done
}
at_times 2>/dev/null &
slow=$!
stage augment --size 16 set.tar
# shows PATTERN : the output for the run matches
shows() {
    "$top" --once -r run >once 2>once.err
    grep -qE -- "$1" once
}
ok 'foil-top shows an augmenter that waits for a selector' becomes_true \
    shows '^augment 1 +(0/s)? +0 of 2 +waits for a selector'
ok 'foil-top shows a trainer that waits for augmenters' \
    grep -q '^train .*waits for augmenters' once
stage select --batch 12 --epochs 1000000 set.tar
ok 'foil-top shows steps/s of a run that trains' \
    becomes_true shows 'steps/s; waits'
ok 'foil-top shows epoch and step' becomes_true shows \
    '^run  epoch [0-9]+/1000000  step [0-9]+/2000000'
ok 'foil-top shows the selector and its augmenter' becomes_true shows \
    '^select +1 augmenter +hands out items'
ok 'foil-top shows the queue of the trainer' \
    grep -qE '^train +[0-9.e+]+/s  [0-9] of 8 held' once
ok 'foil-top shows curves' grep -qE '^loss +[0-9.]+  [▁▂▃▄▅▆▇█]+$' once
ok 'no line of foil-top --once is longer than 80 characters' test "$(wc -L <once)" -le 80
ok 'foil-top --once prints no escape sequences' exits 1 grep -q $'\033' once
ok 'curves are ASCII in a plain locale' bash -c \
    "LC_ALL=C '$top' -r run | grep -qE '^loss +[0-9.]+  [_.:=+*#-]+$'"

# drawn COLUMNS ROWS KEYS OPTION... : foil-top on a terminal of that size; KEYS are typed
# when it shows the stages; `screen` has the pictures without cursor movements
drawn() {
    local size=("$1" "$2") keys=$3 code=0
    shift 3
    /usr/bin/python3 "$terminal" "${size[@]}" "$keys" 'augment 1' -- "$top" -r run "$@" \
        >raw || code=$?
    sed 's/\x1b\[[0-9?]*[a-zA-Z]/\n/g' raw | tr -d '\r' >screen
    return "$code"
}
for columns in 20 60 200; do
    ok "$columns columns: q ends foil-top, and the terminal has its old state" \
        drawn "$columns" 24 q
    ok "$columns columns: foil-top draws the trainer" grep -q '^train' screen
    ok "$columns columns: no line is longer" test "$(wc -L <screen)" -le "$columns"
    ok "$columns columns: the previous screen returns" \
        bash -c 'tail -c 40 raw | grep -q "1049l"'
done
ok 'foil-top runs on 6 rows' drawn 60 6 q
ok 'foil-top draws at most 6 rows' /usr/bin/python3 -c '
pictures = open("raw", newline="").read().split("\033[H")[1:]
assert max(picture.count("\n") for picture in pictures) == 5, pictures'
ok 'Ctrl-C ends foil-top, and the terminal has its old state' drawn 60 24 '^C'
ok 'foil-top runs while the terminal shrinks from 60 to 30 columns' \
    drawn 60 24 ^Wq
ok 'the last picture fits into the smaller terminal' \
    /usr/bin/python3 -c '
import re
pictures = open("raw", newline="").read().split("\033[H")[1:]
wide = [re.sub("\033[^a-zA-Z]*[a-zA-Z]", "", p).split("\r\r\n") for p in pictures]
assert max(map(len, wide[0])) > 30 >= max(map(len, wide[-1])), wide
assert len(wide[-1]) <= 12, wide[-1]'
ok '--once on a terminal succeeds' drawn 60 24 '' --once
ok '--once on a terminal prints the trainer' grep -q '^train' screen
ok '--once on a terminal prints no escape sequences' exits 1 grep -q $'\033' raw

kill "$select"
ok 'foil-top shows that the selector has disconnected' becomes_true shows \
    '^augment 1 .*waits for a selector'
kill "$slow"
wait "$slow"
kill "$train"
wait "$train"
ok 'foil-top of an ended run shows its steps' "$top" -r run
ok 'foil-top of an ended run shows no trainer' grep -q '^no trainer sends messages' "$work/out"
done_testing
