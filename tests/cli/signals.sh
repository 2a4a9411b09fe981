#!/bin/bash
# Every tool and verb under SIGINT, SIGTERM and SIGHUP: foil(7), EXIT STATUS.
# Each waits for input that never comes, or has much to do.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
terminal=$(cd "${0%/*}" && pwd)/terminal.py

export OMP_NUM_THREADS=1
unset GOMP_SPINCOUNT # as users do without
cd "$work" || exit
ok 'a data set' "$BIN/foil-data" generate --size 8 -o set.tar 16
ok 'its index' "$BIN/foil-data" index set.tar

# awaits PID NAME : the tool's own threads block SIGTERM: it watches for it.  Up
# to exec the process is a bash, with its own ways.
awaits() {
    local mask
    grep -qsx "Name:.$2" "/proc/$1/status" || return
    mask=$(awk '/^SigBlk/ { print $2 }' "/proc/$1/status")
    (((0x$mask >> 14) & 1))
}

# ready PID NAME VERB : it may be told to end, or has ended by itself
ready() {
    kill -0 "$1" 2>/dev/null || return 0
    awaits "$1" "$2" && { test "$3" != generate || compgen -G '*.new'; }
}

# as_nice PID : it has our priority
as_nice() {
    local theirs ours
    read -ra theirs <"/proc/$1/stat"
    read -ra ours <"/proc/$$/stat"
    echo "priority ${theirs[18]}, want ${ours[18]}"
    test "${theirs[18]}" = "${ours[18]}"
}

# ended SIGNAL CODE TOOL ARGUMENT... : in a folder of its own, with pipes that
# nobody writes to, one in place of the manifest of a checkpoint
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

# all CODE TOOL ARGUMENT... : under each of the three, at a time
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

# what has something to save, or to tell others, does so: 0
while read -r tool arguments; do
    # shellcheck disable=SC2086 # arguments are words
    ok "$tool $arguments: 0" all 0 "foil-$tool" $arguments
done <<'EOF'
select -r . set.tar
augment -r . set.tar
negatives -r .
negatives -r . --filter
train -r . --arch linear
tap -r . events
tap proxy ipc://here ipc://there
EOF

# typed SOCKET TOOL ARGUMENT... : Ctrl-C on a terminal once it waits at a socket
typed() {
    # shellcheck disable=SC2016 # sh expands them
    /usr/bin/python3 "$terminal" 60 24 '^C' ready -- sh -c '(trap "" INT
        until [ -S "$0" ]; do sleep .01; done; echo ready) & exec "$@"' "$1" \
        "$BIN/$2" "${@:3}" >said
}
while read -r socket tool arguments; do
    # shellcheck disable=SC2086
    ok "Ctrl-C at foil-$tool, which waits: 0" typed "$socket" "foil-$tool" \
        $arguments
    ok 'a word stands between ^C and the prompt' grep -qa \
        "foil-$tool: stopped" said
done <<'EOF'
batch train -r . --arch linear
plan select -r . set.tar
EOF

# what makes files, or prints figures, makes and prints none: 1; a user waits for
# it, so that it does not lower its priority
while read -r tool arguments; do
    # shellcheck disable=SC2086
    ok "$tool $arguments: 1" all 1 "foil-$tool" $arguments
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

# under nohup a hang-up is nothing
outlives() {
    local pid
    mkfifo none.foil
    (trap '' HUP && exec "$BIN/foil-data" info none.foil) &
    pid=$!
    becomes_true awaits "$pid" foil-data && kill -HUP "$pid" && sleep 0.2 &&
        kill -TERM "$pid" && exits 1 wait "$pid"
}
ok 'an ignored SIGHUP does not end a tool' outlives

# what a killed writer leaves is swept by the next one of the same file
"$BIN/foil-data" generate -o long.tar 100000000 2>/dev/null &
writer=$!
becomes_true compgen -G 'long.tar.*.new' >/dev/null
ok 'the file of a living writer stays' "$BIN/foil-data" generate -o long.tar 4
ok 'where it is' test -e "long.tar.$writer.new"
kill -KILL "$writer"
wait "$writer" 2>/dev/null
ok 'that of another file, too' "$BIN/foil-data" generate -o long 4
ok 'where it is' test -e "long.tar.$writer.new"
ok 'that of a dead writer goes' "$BIN/foil-data" generate -o long.tar 4
ok 'it is gone' exits 1 compgen -G 'long.tar.*.new'
done_testing
