#!/bin/bash
# A trainer that is killed at any system call of a save, or whose call fails, is
# gone on with: the same checkpoints, `latest` and metrics as undisturbed, and
# nothing left behind.  Those who feed it stay; a kill does not send them away.
#
#   saves.sh                  what CI does: points spread over a run of four
#                             saves, and every point of the last one
#   saves.sh HOW FROM TO ...  HOW kill, EIO or ENOSPC at the calls FROM to TO
#   saves.sh HOW              at every call
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

calls=fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat,symlink,symlinkat
calls+=,unlink,unlinkat,rmdir,ftruncate,getdents64
options=(--arch linear,hidden=16 --head 8-4 --objective isogclr,rho=0.3 --lr 0.05
    --threads 1 --deadline 20 --checkpoint-every 4)
export OMP_NUM_THREADS=1

# feed DIR : a selector and an augmenter; their ids in $stages
feed() {
    mkdir -m 700 "$1"
    "$BIN/foil-select" -r "$1" -b 8 -e 2 "$work/set.tar" 2>>"$1.feeders" &
    stages=($!)
    "$BIN/foil-augment" -r "$1" --size 8 "$work/set.tar" 2>>"$1.feeders" &
    stages+=($!)
}

# train DIR OPTIONS... : the trainer; what it says goes to DIR.err
train() {
    "$BIN/foil-train" -r "$1" "${options[@]}" "${@:2}" 2>>"$1.err"
}

# traced DIR STRACE-OPTIONS... : the same under strace, with a log of its calls;
# --seccomp-bpf is quicker, but knows no kill
traced() {
    # the sanitizer cannot look for leaks in a traced process
    ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o "$1.calls" \
        -e signal=none -e "trace=$calls" "${@:2}" \
        "$BIN/foil-train" -r "$1" "${options[@]}" 2>>"$1.err"
}

# all_end : the feeders end by themselves
all_end() {
    local pid
    for pid in "${stages[@]}"; do
        becomes_true gone "$pid" || { echo 'a feeder does not end'; return 1; }
    done
}

# left DIR : what is in it but sockets, lock, session and stages.json, which only a
# start that trained leaves
left() {
    find "$1" -mindepth 1 -maxdepth 1 ! -type s ! -name lock ! -name session \
        ! -name stages.json -printf '%f\n' | sort
}

# kept DIR : the steps that must be there, but those whose save was said to fail
kept() {
    local step
    for step in 4 8 12 16; do
        test "$step" -ne 16 &&
            grep "no checkpoint at step $step:" "$1.err" |
            grep -qv "cannot sync '$1':" || printf 'step-%08d\n' "$step"
    done | tail -n 2
}

# equal DIR : to the undisturbed run
equal() {
    diff -r "$work/calm/latest/" "$1/latest/" &&
        diff "$work/calm.metrics" <(timeless "${1##*/}") &&
        diff <(readlink "$work/calm/latest") <(readlink "$1/latest") &&
        diff <(printf '%s\n' batches.i32 batches.jsonl latest metrics.jsonl
            kept "$1") <(left "$1")
}

# whole DIR : a checkpoint that `latest` shows is one
whole() {
    test ! -L "$1/latest" || test -s "$1/latest/MANIFEST.json"
}

# at N : call N of the undisturbed run for strace, which counts each kind of
# call of each thread by itself
at() {
    awk -v n="$1" '{ sub(/\(.*/, "", $2); seen[$1 $2]++ }
        NR == n { print $2 ":when=" seen[$1 $2] }' "$work/calm.calls"
}

# killed RUN N : at the call N, and gone on with by the trainer alone
killed() {
    local code=0
    # bash would say on stderr that it was killed
    { traced "$1" -e "inject=$(at "$2" | sed 's/:/:signal=KILL:/')" ||
        code=$?; } 2>/dev/null
    test "$code" -eq 137 && whole "$1" && train "$1" --resume &&
        all_end && equal "$1"
}

# failed RUN ERROR N : the call N fails; what is missing then is there after
# --resume, which those who feed it wait for
failed() {
    local code=0
    traced "$1" --seccomp-bpf -e "inject=$(at "$3" | sed "s/:/:error=$2:/")" ||
        code=$?
    if test "$code" -ne 0; then
        test "$code" -eq 1 && train "$1" --resume || return
    fi
    train "$1" --resume --steps 16 && all_end && equal "$1"
}

# point HOW N : one of either
point() {
    local run=$work/$1-$2
    feed "$run"
    case $1 in
    kill) killed "$run" "$2" ;;
    *) failed "$run" "$1" "$2" ;;
    esac && rm -rf "$run" "$run".* && return
    echo "$1 at call $2: $(sed -n "$2p" "$work/calm.calls")"
    cat "$run.err" "$run.feeders"
    kill "${stages[@]}" 2>/dev/null
    echo "$1 $2" >>"$work/differ"
}

# points HOW N... : all of them, some at a time, since most of it is waiting
points() {
    local how=$1 n
    shift
    rm -f "$work/differ"
    for n in "$@"; do
        while test "$(jobs -pr | wc -l)" -ge 4; do wait -n; done
        point "$how" "$n" &
    done
    wait
    touch "$work/differ"
    echo "$# points, $(wc -l <"$work/differ") differ"
    test ! -s "$work/differ"
}

if ! strace -qq -o /dev/null true 2>/dev/null; then
    skip 'kills within a save' 'no strace, or it may not trace here'
    done_testing
fi
ok 'a data set' "$BIN/foil-data" generate --size 16 -o "$work/set.tar" 64
ok 'its index' "$BIN/foil-data" index "$work/set.tar"
feed "$work/calm"
ok 'an undisturbed run' traced "$work/calm" --seccomp-bpf
all_end
timeless calm >"$work/calm.metrics"
all=$(wc -l <"$work/calm.calls")
last=$(grep -n 'mkdir.*step-00000016' "$work/calm.calls" | cut -d: -f1)
ok "has $all calls, of which the last save begins with number $last" \
    test "$last" -gt 1

if test $# -eq 1; then
    set -- "$1" 1 "$all"
fi
while test $# -ge 3; do
    mapfile -t list < <(seq "$2" "$3")
    ok "$1 at the calls $2 to $3" points "$1" "${list[@]}"
    tail -n 1 "$work/out" | sed 's/^/# /'
    shift 3
    asked=1
done
if test -z "${asked-}"; then
    mapfile -t list < <(seq 3 $((last / 6)) "$((last - 1))")
    ok 'killed at calls of the whole run' points kill "${list[@]}"
    ok 'failed at calls of the whole run' points EIO "${list[@]}"
    # to look into a folder changes nothing: as killed at the next call
    mapfile -t list < <(grep -nv getdents64 "$work/calm.calls" | cut -d: -f1 |
        awk -v last="$last" '$1 >= last')
    ok 'killed at every call of the last save' points kill "${list[@]}"
fi
# fails CALL N : in a run, the Nth such call fails
fails() {
    local run=$work/fails
    feed "$run"
    traced "$run" --seccomp-bpf -e "inject=$1:error=EIO:when=$2" && all_end
    cat "$run.err"
}

ok 'an old checkpoint cannot be removed' fails rmdir 1
ok 'it is named' grep -q "until the next save: .*step-00000004" "$work/out"
ok 'and not called a failed checkpoint' \
    exits 1 grep 'no checkpoint' "$work/fails.err"
ok 'the next save removes it' test "$(left "$work/fails" | xargs)" = \
    'batches.i32 batches.jsonl latest metrics.jsonl step-00000012 step-00000016'

# a folder that cannot be read is not one without a checkpoint
before=$(wc -l <"$work/fails/metrics.jsonl")
options+=(--resume)
for n in 1 3; do
    ok "a folder cannot be read (call $n): 1" exits 1 traced "$work/fails" \
        -e "inject=getdents64:error=EIO:when=$n"
    ok 'is said' grep -q "cannot read '$work/fails" "$work/fails.err"
    ok 'the metrics are whole' \
        test "$(wc -l <"$work/fails/metrics.jsonl")" -eq "$before"
    : >"$work/fails.err"
done
ok 'those who fed it are to be started again' refuses 1 \
    'restart selector and augmenters' \
    "$BIN/foil-train" -r "$work/fails" --resume --deadline 1
done_testing
