#!/usr/bin/env bash
# foil-stop for its users: runs of foil-train and of a pipeline; runs without a trainer,
# or with one on another host.
# Mostly waits, 6 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export PATH=$BIN:$PATH OMP_NUM_THREADS=1

common foil-stop run
cd "$work" || exit 1
foil-data generate -o d.tar --size 8 32 2>/dev/null && foil-data index d.tar 2>/dev/null

# -------------------------------------------- no trainer, or one that cannot be stopped

ok 'foil-stop without RUN exits with 2' refuses 2 'RUN' foil-stop
ok 'foil stop of a missing folder exits with 1' \
    refuses 1 "no run 'nope': there is no such folder" \
    foil stop nope
mkdir -m 700 idle
ok 'foil stop of a run without a trainer exits with 3' \
    refuses 3 "no trainer runs in 'idle'" foil stop idle
sleep 600 &
other=$!
echo "$other $(uname -n)" >idle/lock
ok 'foil stop exits with 3 if the PID in the lock is of another process' \
    refuses 3 "no trainer runs in 'idle'" foil stop idle
ok 'foil stop does not kill the other process' kill -0 "$other"
echo '7 elsewhere' >idle/lock
ok 'foil stop of a run last trained on another host exits with 1' refuses 1 \
    "last trained on the host 'elsewhere', by process 7" foil stop idle
kill "$other"

# lock_idle LINE : locks idle, as a trainer does, and writes LINE into the lock
lock_idle() {
    /usr/bin/python3 -c 'import fcntl, sys, time
lock = open("idle/lock", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print(sys.argv[1], file=lock, flush=True)
open("locked", "w").write("yes")
time.sleep(600)' "$1" &
    holder=$!
    waits_for locked
    rm locked
}
lock_idle '7 elsewhere'
ok 'foil stop of a run in training on another host exits with 1' refuses 1 \
    "process 7 on the host 'elsewhere' trains in 'idle'" foil stop idle
kill_now "$holder"

# the trainer of another user
foreign() {
    if [[ $(id -u) -eq 0 ]]; then # as nobody, who can read the lock
        lock_idle "0 $(uname -n)"
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
ok "foil stop of another user's trainer exits with 1" foreign
kill_now "${holder:-}" 2>/dev/null

# ------------------------------------------------------------ a run of foil-train

# feeds RUN : starts selector and augmenter
feeds() {
    feeders=()
    foil-select -r "$1" -b 8 -e 1000000 d.tar 2>/dev/null &
    feeders+=($!)
    foil-augment -r "$1" --size 8 d.tar 2>/dev/null &
    feeders+=($!)
}
# saved_all RUN : its newest checkpoint has all steps of its metrics
saved_all() {
    local last
    last=$(readlink "$1/latest")
    echo "$last, $(steps "$1") steps"
    test "$((10#${last#step-}))" -eq "$(steps "$1")"
}

foil-train -r hand --threads 1 --arch linear --checkpoint-every 100000 2>hand.err &
trainer=$!
feeds hand
ok 'a run of foil-train trains' becomes_true has_steps hand 3
ok 'the lock of a run has PID and host of the trainer' grep -qx "$trainer $(uname -n)" hand/lock
ok 'foil stop ends a run of foil-train' foil stop hand
ok 'foil stop prints the newest checkpoint' grep -qx \
    "foil-stop: 'hand' has ended; its newest checkpoint is step-0*$(steps hand)" \
    "$work/out"
ok 'the trainer has ended when foil stop returns' gone "$trainer"
ok 'the trainer exits with 0' wait "$trainer"
ok 'the checkpoint has all steps' saved_all hand
ok 'the other stages exit with 0' wait "${feeders[@]}"
ok 'foil stop of the ended run exits with 3' exits 3 foil stop hand

# ------------------------------------------------------------ a run of a pipeline

foil run simclr d.tar d.tar -r piped --epochs 1000000 --batch 8 --threads 1 \
    --augmenters 1 --augment '--size 8' --train '--arch linear' 2>piped.err &
pipeline=$!
ok 'a run of a pipeline trains' becomes_true has_steps piped 3
ok 'foil stop ends a run of a pipeline' foil stop piped
ok 'the pipeline exits with 143' exits 143 wait "$pipeline"
ok 'the pipeline prints the command that resumes it' \
    has_line "stopped; 'foil run --resume -r piped' continues" piped.err
ok 'a stopped pipeline evaluates nothing' test ! -e piped/results.jsonl
ok 'the checkpoint of the pipeline has all steps' saved_all piped
done_testing
