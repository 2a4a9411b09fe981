#!/usr/bin/env bash
# foil-top as a user meets it: beside a run, after one, without one; on
# terminals of 60 and 200 columns and without.
# Mostly waits, 25 s
# shellcheck disable=SC2154 # stage() sets names of processes
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
top=$BIN/foil-top
terminal=$(cd "${0%/*}" && pwd)/terminal.py
export LC_ALL=C.UTF-8

common foil-top -r run
cd "$work" || exit 1
ok 'no run is named: 2' refuses 2 'which run\?' "$top"
ok 'no such run: 1' refuses 1 "there is no run 'nowhere'" "$top" -r nowhere
mkdir empty
ok 'nobody is there, and nobody was: 1' \
    refuses 1 'no trainer sends messages' "$top" -r empty

# one that is at work, and says nothing within a long step
/usr/bin/python3 -c 'import fcntl, os, time
lock = open("empty/lock", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print(os.getpid(), os.uname().nodename, file=lock, flush=True)
time.sleep(600)' &
silent=$!
waits_for empty/lock
ok 'a trainer that says nothing yet is there: 0' "$top" --once -r empty
ok 'in a long step' grep -qx \
    "process $silent trains here, and has not sent anything yet: a long step" "$work/out"
kill "$silent"
# as somebody else may have written it
mkdir rogue
awk 'BEGIN { for (i = 1; i <= 100000; i++)
    printf "{\"total\":%d,\"epoch\":0,\"loss\":1,\"k\\u001b[31m\\u009b%d\":2}\n", i, i
}' >rogue/metrics.jsonl
ok '10^5 names are read, of which some are shown: 0' timeout "$patience" bash -c \
    "'$top' --once -r rogue >rogue.shown"
ok 'with no escape in them' exits 1 grep -qP '\x1b|\xc2\x9b' rogue.shown
ok 'but what is legible' grep -q '^k?\[31m??1 ' rogue.shown

"$BIN/foil-data" generate -o set.tar --size 16 24 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
# stage NAME OPTION... : in the background, its process in $NAME
stage() {
    local name=$1
    shift
    "$BIN/foil-$name" -r run "$@" 2>>"$name.err" &
    printf -v "${name//-/_}" %s $!
}
stage train --threads 1 --deadline 600 --arch linear,hidden=6 --head none
# at work for a tenth of the time: what is looked at needs no more
at_times() {
    trap 'kill -CONT "$train"; exit' TERM
    while kill -STOP "$train" && nap 0.09 && kill -CONT "$train"; do
        nap 0.01
    done
}
at_times 2>/dev/null &
slow=$!
stage augment --size 16 set.tar
# shows PATTERN : how the run is
shows() {
    "$top" --once -r run >once 2>once.err
    grep -qE -- "$1" once
}
ok 'without a selector, the augmenter waits for one' becomes_true \
    shows '^augment 1 +(0/s)? +0 of 2 +waits for a selector'
ok 'and the trainer for a batch' grep -q '^train .*waits for augmenters' once
stage select --batch 12 --epochs 1000000 set.tar
ok 'with one, it trains' becomes_true shows 'steps/s; waits'
ok 'at this step of so many' becomes_true shows \
    '^run  epoch [0-9]+/1000000  step [0-9]+/2000000'
ok 'the selector is there, as the augmenter says' becomes_true shows \
    '^select +1 augmenter +hands out items'
ok 'with their queues' grep -qE '^train +[0-9.e+]+/s  [0-9] of 8 held' once
ok 'and curves' grep -qE '^loss +[0-9.]+  [▁▂▃▄▅▆▇█]+$' once
ok 'no line is longer than 80 characters' test "$(wc -L <once)" -le 80
ok 'there is no escape in it' exits 1 grep -q $'\033' once
ok 'where the locale is plain, curves are' bash -c \
    "LC_ALL=C '$top' -r run | grep -qE '^loss +[0-9.]+  [_.:=+*#-]+$'"

# drawn COLUMNS ROWS KEYS OPTION... : on a terminal of that size, keys typed when
# the stages are there; in `screen` the pictures without what moves the cursor
drawn() {
    local size=("$1" "$2") keys=$3 code=0
    shift 3
    /usr/bin/python3 "$terminal" "${size[@]}" "$keys" 'augment 1' -- "$top" -r run "$@" \
        >raw || code=$?
    sed 's/\x1b\[[0-9?]*[a-zA-Z]/\n/g' raw | tr -d '\r' >screen
    return "$code"
}
for columns in 20 60 200; do
    ok "$columns columns: q ends it, and the terminal is as before" \
        drawn "$columns" 24 q
    ok 'it has drawn something' grep -q '^train' screen
    ok 'no line is longer' test "$(wc -L <screen)" -le "$columns"
    ok 'and the screen of before is back' \
        bash -c 'tail -c 40 raw | grep -q "1049l"'
done
ok '6 rows are enough' drawn 60 6 q
ok 'and get as many lines' /usr/bin/python3 -c '
pictures = open("raw", newline="").read().split("\033[H")[1:]
assert max(picture.count("\n") for picture in pictures) == 5, pictures'
ok 'Ctrl-C ends it, and the terminal is as before' drawn 60 24 '^C'
ok 'a terminal of 60 columns becomes one of 30, and then q ends it' \
    drawn 60 24 ^Wq
ok 'the last picture has no longer line than that, and no more lines' \
    /usr/bin/python3 -c '
import re
pictures = open("raw", newline="").read().split("\033[H")[1:]
wide = [re.sub("\033[^a-zA-Z]*[a-zA-Z]", "", p).split("\r\r\n") for p in pictures]
assert max(map(len, wide[0])) > 30 >= max(map(len, wide[-1])), wide
assert len(wide[-1]) <= 12, wide[-1]'
ok '--once on a terminal draws no screen' drawn 60 24 '' --once
ok 'but prints' grep -q '^train' screen
ok 'without an escape' exits 1 grep -q $'\033' raw

kill "$select"
ok 'a selector that is gone is missed' becomes_true shows \
    '^augment 1 .*waits for a selector'
kill "$slow"
wait "$slow"
kill "$train"
wait "$train"
ok 'after the run, its steps are there' "$top" -r run
ok 'but no trainer' grep -q '^no trainer sends messages' "$work/out"
done_testing
