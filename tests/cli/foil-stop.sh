#!/usr/bin/env bash
# foil-stop as a user meets it: runs by hand and of a pipeline; runs that nobody
# trains, or somebody elsewhere.
# Mostly waits, 6 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export PATH=$BIN:$PATH OMP_NUM_THREADS=1

common foil-stop run
cd "$work" || exit 1
foil-data generate -o d.tar --size 8 32 2>/dev/null && foil-data index d.tar 2>/dev/null

# ------------------------------------------------------------ what is no run

ok 'no RUN: 2' refuses 2 'RUN' foil-stop
ok 'no such folder: 1' refuses 1 "no run 'nope': there is no such folder" \
    foil stop nope
mkdir -m 700 idle
ok 'nobody trains there: 3' refuses 3 "no trainer runs in 'idle'" foil stop idle
sleep 600 &
other=$!
echo "$other $(uname -n)" >idle/lock
ok 'the number of a trainer is of another process by now: 3' \
    refuses 3 "no trainer runs in 'idle'" foil stop idle
ok 'which is left in peace' kill -0 "$other"
echo '7 elsewhere' >idle/lock
ok 'it was trained on another host, and may be still: 1' refuses 1 \
    "last trained on the host 'elsewhere', by process 7" foil stop idle
kill "$other"

# held LINE : as if a trainer had idle, whose lock has that line
held() {
    /usr/bin/python3 -c 'import fcntl, sys, time
lock = open("idle/lock", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print(sys.argv[1], file=lock, flush=True)
open("held", "w").write("yes")
time.sleep(600)' "$1" &
    holder=$!
    waits_for held
    rm held
}
held '7 elsewhere'
ok 'one trains it on another host now: 1' refuses 1 \
    "process 7 on the host 'elsewhere' trains in 'idle'" foil stop idle
kill_now "$holder"

# A folder of somebody who lets nobody ask.
foreign() {
    if [[ $(id -u) -eq 0 ]]; then # as nobody, who may look
        held "0 $(uname -n)"
        chmod 755 "$work" idle
        chmod 644 idle/lock
        refuses 1 "cannot ask process $holder.*: Operation not permitted" \
            setpriv --reuid=65534 --clear-groups "$stop" idle
    else
        chmod 0 idle/lock
        refuses 1 "cannot open 'idle/lock': Permission denied" foil stop idle
    fi
}
cp "$BIN/foil-stop" stop && stop=$work/stop
ok 'the trainer of somebody else: 1' foreign
kill_now "${holder:-}" 2>/dev/null

# ------------------------------------------------------------ by hand, in C

# feeds RUN : selector and augmenter
feeds() {
    feeders=()
    foil-select -r "$1" -b 8 -e 1000000 d.tar 2>/dev/null &
    feeders+=($!)
    foil-augment -r "$1" --size 8 d.tar 2>/dev/null &
    feeders+=($!)
}
# all_kept RUN : its newest checkpoint has all steps of its metrics
all_kept() {
    local kept
    kept=$(readlink "$1/latest")
    echo "$kept, $(steps "$1") steps"
    test "$((10#${kept#step-}))" -eq "$(steps "$1")"
}

foil-train -r hand --threads 1 --arch linear --checkpoint-every 100000 2>hand.err &
trainer=$!
feeds hand
ok 'a run by hand trains' becomes_true has_steps hand 3
ok 'its lock says who has it, and where' grep -qx "$trainer $(uname -n)" hand/lock
ok 'foil stop ends it: 0' foil stop hand
ok 'it says with what' grep -qx \
    "foil-stop: 'hand' has ended; its newest checkpoint is step-0*$(steps hand)" \
    "$work/out"
ok 'it has ended when that returns' gone "$trainer"
ok 'well' wait "$trainer"
ok 'with all its steps saved' all_kept hand
ok 'its stages end, too' wait "${feeders[@]}"
ok 'nobody trains there any more: 3' exits 3 foil stop hand

# ------------------------------------------------------------ of a pipeline

foil run simclr d.tar d.tar -r piped --epochs 1000000 --batch 8 --threads 1 \
    --augmenters 1 --augment '--size 8' --train '--arch linear' 2>piped.err &
pipeline=$!
ok 'a run of a pipeline trains' becomes_true has_steps piped 3
ok 'foil stop ends it: 0' foil stop piped
ok 'with the pipeline, which says how to go on: 143' exits 143 wait "$pipeline"
ok 'in a sentence' has_line "stopped; 'foil run --resume -r piped' continues" piped.err
ok 'and evaluates nothing' test ! -e piped/results.jsonl
ok 'all its steps are saved' all_kept piped
done_testing
