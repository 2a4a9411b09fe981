#!/bin/bash
# A trainer is killed at any system call of a save, or the call fails; after --resume the
# checkpoints, `latest` and metrics are those of an undisturbed run, and no other files
# are left.  The feeders continue; a killed trainer does not end them.
# Not for sanitizers: kills by strace; faults.sh and tests/nn save under them.
#
#   saves.sh                  as in CI: points spread over a run of four saves, and
#                             every point of the last save
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

# feed DIR : starts a selector and an augmenter; their PIDs are in $stages
feed() {
    mkdir -m 700 "$1"
    "$BIN/foil-select" -r "$1" -b 8 -e 2 "$work/set.tar" 2>>"$1.feeders" &
    stages=($!)
    "$BIN/foil-augment" -r "$1" --size 8 "$work/set.tar" 2>>"$1.feeders" &
    stages+=($!)
}

# train DIR OPTIONS... : runs the trainer; its messages go to DIR.err
train() {
    "$BIN/foil-train" -r "$1" "${options[@]}" "${@:2}" 2>>"$1.err"
}

# traced DIR STRACE-OPTIONS... : the same under strace, which logs its calls in
# DIR.calls.  --seccomp-bpf is faster, but cannot inject kills.
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

# left DIR : prints its files, without sockets, lock, session and stages.json, which
# --resume of a finished run does not write
left() {
    find "$1" -mindepth 1 -maxdepth 1 ! -type s ! -name lock ! -name session \
        ! -name stages.json -printf '%f\n' | sort
}

# expected DIR : prints the checkpoints that must exist, without those that failed.  A
# thread completes a checkpoint, so a call of it fails in every save; if all fail, the
# run starts again.
expected() {
    local step
    awk '/starting a new run/ { n = 0 } { line[n++] = $0 }
        END { for (i = 0; i < n; i++) print line[i] }' "$1.err" >"$1.last"
    for step in 4 8 12 16; do
        test "$step" -ne 16 &&
            grep "no checkpoint at step $step:" "$1.last" |
            grep -qv "cannot sync '$1':" || printf 'step-%08d\n' "$step"
    done | tail -n 2
}

# equal DIR : it is equal to the undisturbed run
equal() {
    diff -r "$work/calm/latest/" "$1/latest/" &&
        diff "$work/calm.metrics" <(timeless "${1##*/}") &&
        diff <(readlink "$work/calm/latest") <(readlink "$1/latest") &&
        diff <(printf '%s\n' batches.i32 batches.jsonl latest metrics.jsonl
            expected "$1") <(left "$1")
}

# whole DIR : `latest` is missing or a complete checkpoint
whole() {
    test ! -L "$1/latest" || test -s "$1/latest/MANIFEST.json"
}

# at N : prints call N of the undisturbed run for strace, which counts each kind of call
# in each thread
at() {
    awk -v n="$1" '{ sub(/\(.*/, "", $2); seen[$1 $2]++ }
        NR == n { print $2 ":when=" seen[$1 $2] }' "$work/calm.calls"
}

# killed RUN N : it is killed at call N and resumed without new feeders
killed() {
    local code=0
    # bash would report the kill on stderr
    { traced "$1" -e "inject=$(at "$2" | sed 's/:/:signal=KILL:/')" ||
        code=$?; } 2>/dev/null
    test "$code" -eq 137 && whole "$1" && train "$1" --resume &&
        all_end && equal "$1"
}

# failed RUN ERROR N : call N fails; --resume, for which the feeders wait, completes the
# run
failed() {
    local code=0
    traced "$1" --seccomp-bpf -e "inject=$(at "$3" | sed "s/:/:error=$2:/")" ||
        code=$?
    if test "$code" -ne 0; then
        test "$code" -eq 1 && train "$1" --resume || return
    fi
    train "$1" --resume --steps 16 && all_end && equal "$1"
}

# point HOW N : checks one of both
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

# points HOW N... : checks all of them, four at a time, since they mostly wait
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
ok 'foil-data generate makes a data set' \
    "$BIN/foil-data" generate --size 16 -o "$work/set.tar" 64
ok 'foil-data index makes its index' "$BIN/foil-data" index "$work/set.tar"
feed "$work/calm"
ok 'an undisturbed run under strace succeeds' traced "$work/calm" --seccomp-bpf
all_end
timeless calm >"$work/calm.metrics"
all=$(wc -l <"$work/calm.calls")
last=$(grep -n 'mkdir.*step-00000016' "$work/calm.calls" | cut -d: -f1)
ok "the run has $all calls; the last save begins with number $last" \
    test "$last" -gt 1

if test $# -eq 1; then
    set -- "$1" 1 "$all"
fi
while test $# -ge 3; do
    mapfile -t list < <(seq "$2" "$3")
    ok "$1 at the calls $2 to $3 does not change the result" points "$1" "${list[@]}"
    tail -n 1 "$work/out" | sed 's/^/# /'
    shift 3
    asked=1
done
if test -z "${asked-}"; then
    mapfile -t list < <(seq 3 $((last / 6)) "$((last - 1))")
    ok 'SIGKILL at calls of the whole run does not change the result' \
        points kill "${list[@]}"
    ok 'EIO at calls of the whole run does not change the result' points EIO "${list[@]}"
    # a call that reads a folder changes nothing: a kill there is one at the next call
    mapfile -t list < <(grep -nv getdents64 "$work/calm.calls" | cut -d: -f1 |
        awk -v last="$last" '$1 >= last')
    ok 'SIGKILL at every call of the last save does not change the result' \
        points kill "${list[@]}"
fi
# fails CALL N : a run in which the Nth such call fails
fails() {
    local run=$work/fails
    feed "$run"
    traced "$run" --seccomp-bpf -e "inject=$1:error=EIO:when=$2" && all_end
    cat "$run.err"
}

ok 'a run succeeds if an old checkpoint cannot be deleted' fails rmdir 1
ok 'foil-train names the old checkpoint' \
    grep -q "until the next save: .*step-00000004" "$work/out"
ok 'foil-train reports no failed checkpoint' \
    exits 1 grep 'no checkpoint' "$work/fails.err"
ok 'the next save deletes the old checkpoint' test "$(left "$work/fails" | xargs)" = \
    'batches.i32 batches.jsonl latest metrics.jsonl step-00000012 step-00000016'

# a folder that cannot be read is not a folder without checkpoints
before=$(wc -l <"$work/fails/metrics.jsonl")
options+=(--resume)
for n in 1 3; do
    ok "--resume of a folder that cannot be read exits with 1 (call $n)" \
        exits 1 traced "$work/fails" \
        -e "inject=getdents64:error=EIO:when=$n"
    ok "foil-train names the folder that cannot be read (call $n)" \
        grep -q "cannot read '$work/fails" "$work/fails.err"
    ok "the metrics do not change (call $n)" \
        test "$(wc -l <"$work/fails/metrics.jsonl")" -eq "$before"
    : >"$work/fails.err"
done
ok '--resume without feeders says to start them' refuses 1 \
    'restart selector and augmenters' \
    "$BIN/foil-train" -r "$work/fails" --resume --deadline 1
done_testing
