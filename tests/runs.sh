# Sourced by tests/cli/*.sh after tap.sh: trains runs in $work, reads their results and
# stops their stages.
# shellcheck shell=bash disable=SC2154,SC2034 # some names are the caller's

# trained RUN OPTION... : run foil-train with an augmenter and a selector of $data;
# returns foil-train's exit code.  The arrays hold further options of the three tools.
# All processes have ended when it returns, so the next run finds the endpoints free.
augment_with=() select_with=() train_with=() deadline=60
trained() {
    local run=$1 code=0 feeders=()
    "$BIN/foil-augment" -r "$run" "${augment_with[@]}" "$data" 2>"$run.augment" &
    feeders+=($!)
    "$BIN/foil-select" -r "$run" "${select_with[@]}" "$data" 2>"$run.select" &
    feeders+=($!)
    "$BIN/foil-train" -r "$run" --threads 1 --deadline "$deadline" \
        "${train_with[@]}" "${@:2}" || code=$?
    [[ $code -eq 0 ]] || kill "${feeders[@]}" 2>/dev/null
    wait "${feeders[@]}" 2>/dev/null
    return "$code"
}

# steps RUN : prints how many steps are trained
steps() {
    if [[ -e $work/$1/metrics.jsonl ]]; then
        wc -l <"$work/$1/metrics.jsonl"
    else
        echo 0
    fi
}

# has_steps RUN N : at least N steps are trained.  Starts no process, since it is
# called often.
has_steps() {
    local lines=()
    [[ ! -s $work/$1/metrics.jsonl ]] ||
        mapfile -n "$2" -t lines <"$work/$1/metrics.jsonl"
    [[ ${#lines[@]} -ge $2 ]]
}

# reaches RUN N : waits until N steps are trained; fails if $trainer has ended
reaches() {
    becomes_true has_steps "$1" "$2" && kill -0 "$trainer"
}

# timeless RUN : prints its metrics without the fields that depend on the clock
timeless() {
    sed -E 's/"(seconds|waited|exchanged|slowest_rank|rank_lag|time)":[^,}]*//g' "$work/$1/metrics.jsonl"
}

# same_metrics A B : both runs have the same steps and metrics, up to rounding
same_metrics() {
    jq -ens --slurpfile a "$1/metrics.jsonl" --slurpfile b "$2/metrics.jsonl" '
        def values: del(.time, .seconds, .waited);
        def close($x; $y): if ($x | type) == "number" then
            ($x - $y | fabs) <= 1e-4 * ([1e-2, ($x | fabs)] | max) else $x == $y end;
        ($a | length) == ($b | length) and all(range($a | length);
        ($a[.] | keys) == ($b[.] | keys) and ($a[.] | values) as $x |
        ($b[.] | values) as $y | all($x | keys[]; close($x[.]; $y[.])))' ||
        { diff <(jq -S . "$1/metrics.jsonl") <(jq -S . "$2/metrics.jsonl"); return 1; }
}

# has_subscriber RUN : a subscriber is connected to the trainer's events.  It gets only
# what is sent after it connects.
has_subscriber() {
    test "$(grep -c "$work/$1/events" /proc/net/unix)" -ge 2
}

gone() {
    ! kill -0 "$1" 2>/dev/null
}

# kill_now PID... : SIGKILL
kill_now() {
    local pid
    for pid; do
        # kill the fork of the warm Python, and not only its client
        [[ -z ${python-} || ! -s $python.at.of/$pid ]] || pid=$(<"$python.at.of/$pid")
        kill -KILL "$pid"
    done
    { wait "$@"; } 2>/dev/null
    true
}

# start_job NAME COMMAND... : run COMMAND as a background job, since a run mostly waits.
# When the job ends, so do the processes that it started.
declare -A job_pid
start_job() {
    (
        trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
        "${@:2}"
    ) >"$work/$1.job" 2>&1 &
    job_pid[$1]=$!
}

# job_ok NAME : waits for that job; fails with its output if the job failed
job_ok() {
    wait "${job_pid[$1]}" || { cat "$work/$1.job"; return 1; }
}

# expect WHAT COMMAND... : in such a job: end the job if COMMAND fails
expect() {
    "${@:2}" || { echo "not $1"; exit 1; }
}

# warm MODULE... : sets $python to a program that forks a Python with these modules
# loaded (forks.py); a new Python would take longer than most of the test programs
warm() {
    local program shell=$BASHPID
    program=$(realpath -m "$BIN/../tests/forked")
    [[ -x $program ]] || {
        echo "# no '$program'; run make ${program#"$PWD/"}"
        exit 1
    }
    python=$work/python
    ln -s "$program" "$python"
    # keep freed memory: otherwise torch's tensors cause a fault for each page
    OMP_NUM_THREADS=1 MALLOC_MMAP_THRESHOLD_=1073741824 \
        MALLOC_TRIM_THRESHOLD_=1073741824 \
        /usr/bin/python3 "${BASH_SOURCE[0]%/*}/forks.py" "$python.at" \
        "$shell" "$@" </dev/null >/dev/null &
}

# needs_hosts WHAT PROGRAM... : ends the test with a skip unless these programs are
# installed and this is root, so that several hosts can be simulated here
needs_hosts() {
    local why='' program
    PATH=$PATH:/usr/sbin
    for program in "$BIN/foil-train-mpi" mpirun "${@:2}"; do
        command -v "$program" >/dev/null || why="no ${program##*/}"
    done
    [[ -n $why || $(id -u) -eq 0 ]] || why='only root can start its daemons'
    [[ -n $why ]] || return 0
    skip "$1" "$why: scripts/setup hosts"
    done_testing
}

# needs_network WHAT : names two hosts (network namespaces) $near and $far, or ends the
# test with a skip.  link_hosts makes and connects them, at 10.64.0.1 and 10.64.0.2;
# unlink_hosts deletes them at the end.
needs_network() {
    near=near-$$ far=far-$$
    # in a chroot, which is not a mount, exec fails
    if ! ip netns add "$near" 2>/dev/null || ! ip netns exec "$near" true 2>/dev/null; then
        ip netns del "$near" 2>/dev/null
        skip "$1" 'ip netns is not allowed'
        done_testing
    fi
}
link_hosts() {
    ip netns add "$far" &&
        ip -n "$near" link add foil0 type veth peer name foil1 netns "$far" &&
        ip -n "$near" addr add 10.64.0.1/24 dev foil0 &&
        ip -n "$far" addr add 10.64.0.2/24 dev foil1 &&
        ip -n "$near" link set lo up && ip -n "$near" link set foil0 up &&
        ip -n "$far" link set lo up && ip -n "$far" link set foil1 up
}
unlink_hosts() {
    ip netns del "$near"
    ip netns del "$far" 2>/dev/null
}

# on HOST COMMAND... : replaces this shell by COMMAND on that host
on() {
    # shellcheck disable=SC2016 # for that bash
    exec ip netns exec "$1" unshare --uts bash -c 'hostname "$0"; exec "$@"' "$@"
}

# trained_killed RUN "STEP... LAST" OPTION... : the trainer is killed at each STEP and
# resumed, up to step LAST; the other stages go on
trained_killed() {
    local run=$1 at resume=()
    foil-augment -r "$run" "${augment_with[@]}" "$data" 2>"$run.augment" &
    foil-select -r "$run" "${select_with[@]}" "$data" 2>"$run.select" &
    for at in $2; do
        foil-train -r "$run" --threads 1 --deadline 60 "${train_with[@]}" \
            "${@:3}" "${resume[@]}" 2>>"$run.err" &
        trainer=$!
        [[ $at -lt ${2##* } ]] || break
        reaches "$run" "$at" || { cat "$run.err"; return 1; }
        kill_now "$trainer"
        resume=(--resume)
    done
    wait "$trainer" || { cat "$run.err"; return 1; }
}
