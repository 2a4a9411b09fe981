#!/bin/bash
# Every tool and verb under SIGINT, SIGTERM and SIGHUP: foil(7), EXIT STATUS.
# Each waits for input that never comes, or has a long task.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
terminal=$(cd "${0%/*}" && pwd)/terminal.py

export OMP_NUM_THREADS=1
unset GOMP_SPINCOUNT # as for users
cd "$work" || exit
ok 'foil-data generate makes a data set' "$BIN/foil-data" generate --size 8 -o set.tar 16
ok 'foil-data index makes its index' "$BIN/foil-data" index set.tar

# awaits PID NAME : the tool's threads block SIGTERM, so it waits for it.  Before exec,
# the process is a bash.
awaits() {
    local mask
    grep -qsx "Name:.$2" "/proc/$1/status" || return
    mask=$(awk '/^SigBlk/ { print $2 }' "/proc/$1/status")
    (((0x$mask >> 14) & 1))
}

# ready PID NAME VERB : it can be ended, or has ended by itself
ready() {
    kill -0 "$1" 2>/dev/null || return 0
    awaits "$1" "$2" && { test "$3" != generate || compgen -G '*.new'; }
}

# as_nice PID : it has the priority of this test
as_nice() {
    local theirs ours
    read -ra theirs <"/proc/$1/stat"
    read -ra ours <"/proc/$$/stat"
    echo "priority ${theirs[18]}, want ${ours[18]}"
    test "${theirs[18]}" = "${ours[18]}"
}

# ended SIGNAL CODE TOOL ARGUMENT... : in a new folder, with pipes to which nothing is
# written, one of them the manifest of a checkpoint
ended() {
    local signal=$1 want=$2 tool=$3 got=0 pid waited_for=yes
    mkdir -m 700 "$signal"
    cd "$signal" || return
    mkdir encoder
    mkfifo none none.foil encoder/MANIFEST.json
    ln ../set.tar ../set.tar.foil .
    find . | sort >../"$signal.before"
    "$BIN/$tool" "${@:4}" >out 2>err &
    pid=$!
    becomes_true ready "$pid" "$tool" "$4"
    test "$want" -eq 0 || as_nice "$pid" || waited_for=''
    kill "-$signal" "$pid"
    timeout "$patience" tail --pid="$pid" -s 0.05 -f /dev/null || kill -KILL "$pid"
    wait "$pid" || got=$?
    echo "$signal: $got, want $want"
    cat err
    test "$got" -eq "$want" -a "$waited_for" || return
    test "$want" -eq 0 || grep -q ': stopped: no file is written$' err || return
    rm -f out err lock metrics.jsonl batches.i32 batches.jsonl session stages.json
    find . ! -type s | sort | diff ../"$signal.before" -
}

# all CODE TOOL ARGUMENT... : under all three signals in parallel
all() {
    local signal pids=() pid bad=0
    for signal in INT TERM HUP; do
        (ended "$signal" "$@" 2>&1) &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || bad=1
    done
    rm -rf INT TERM HUP
    return "$bad"
}

# a tool that has something to save or to send does so: 0
while read -r tool arguments; do
    # shellcheck disable=SC2086 # arguments are words
    ok "foil-$tool $arguments exits with 0 after a signal" all 0 "foil-$tool" $arguments
done <<'EOF'
select -r . set.tar
augment -r . set.tar
negatives -r .
negatives -r . --filter
train -r . --arch linear
tap -r . events
tap proxy ipc://here ipc://there
EOF

# typed SOCKET TOOL ARGUMENT... : Ctrl-C on a terminal when the tool has its socket
typed() {
    # shellcheck disable=SC2016 # sh expands them
    /usr/bin/python3 "$terminal" 60 24 '^C' ready -- sh -c '(trap "" INT
        until [ -S "$0" ]; do sleep .01; done; echo ready) & exec "$@"' "$1" \
        "$BIN/$2" "${@:3}" >messages
}
while read -r socket tool arguments; do
    # shellcheck disable=SC2086
    ok "foil-$tool that waits exits with 0 after Ctrl-C" typed "$socket" "foil-$tool" \
        $arguments
    ok "foil-$tool prints a word between ^C and the prompt" grep -qa \
        "foil-$tool: stopped" messages
done <<'EOF'
batch train -r . --arch linear
plan select -r . set.tar
EOF

# a tool that makes files or prints figures makes and prints none: 1; it has the normal
# priority, since a user waits for it
while read -r tool arguments; do
    # shellcheck disable=SC2086
    ok "foil-$tool $arguments exits with 1 after a signal" all 1 "foil-$tool" $arguments
done <<'EOF'
data index none
data import -o o.tar idx none none
data generate -o o.tar 100000000
data split none.foil a b
data longtail -o o.foil none.foil
data corrupt -k all -o o.tar none.foil
data group --by label -o o.npy none.foil
data info none.foil
data list none.foil
embed --raw -o o.npy none.foil
embed -o o.npy encoder set.tar
eval knn none
eval neighbours none
eval probe none none
eval geometry none
eval retrieve none none
eval loss encoder set.tar
eval pca -o o.npy none
eval temperature encoder set.tar
select --score none none
augment --sheet o.png none.foil
EOF

# SIGHUP is ignored under nohup
outlives() {
    local pid
    mkfifo none.foil
    (trap '' HUP && exec "$BIN/foil-data" info none.foil) &
    pid=$!
    becomes_true awaits "$pid" foil-data && kill -HUP "$pid" && sleep 0.2 &&
        kill -TERM "$pid" && exits 1 wait "$pid"
}
ok 'an ignored SIGHUP does not end a tool' outlives

# temporary files of a killed writer are deleted by the next writer of the same file
"$BIN/foil-data" generate -o long.tar 100000000 2>/dev/null &
writer=$!
becomes_true compgen -G 'long.tar.*.new' >/dev/null
ok 'a second writer of a file succeeds' "$BIN/foil-data" generate -o long.tar 4
ok 'a second writer does not delete the temporary file of a live one' \
    test -e "long.tar.$writer.new"
kill -KILL "$writer"
wait "$writer" 2>/dev/null
ok 'a writer of another file succeeds' "$BIN/foil-data" generate -o long 4
ok 'a writer of another file does not delete the temporary file' \
    test -e "long.tar.$writer.new"
ok 'a writer after a killed one succeeds' "$BIN/foil-data" generate -o long.tar 4
ok 'a writer deletes the temporary file of a killed one' \
    exits 1 compgen -G 'long.tar.*.new'
done_testing
