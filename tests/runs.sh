# Sourced by tests/cli/*.sh after tap.sh: trains, looks at runs in $work, and ends
# their stages.
# shellcheck shell=bash disable=SC2154,SC2034 # some names are the caller's

# trained RUN OPTION... : foil-train beside an augmenter and a selector of $data;
# its exit code.  These arrays have further options of the three.  All have ended
# when it returns, so that the next ones find their endpoints free.
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

# steps RUN : how many are trained
steps() {
    if [[ -e $work/$1/metrics.jsonl ]]; then
        wc -l <"$work/$1/metrics.jsonl"
    else
        echo 0
    fi
}

# has_steps RUN N : so many steps are trained, or more; asked often, so without
# a process for it
has_steps() {
    local lines=()
    [[ ! -s $work/$1/metrics.jsonl ]] ||
        mapfile -n "$2" -t lines <"$work/$1/metrics.jsonl"
    [[ ${#lines[@]} -ge $2 ]]
}

# past RUN N : so many steps get trained, and $trainer is still at work
past() {
    becomes_true has_steps "$1" "$2" && kill -0 "$trainer"
}

# timeless RUN : its metrics without what depends on the clock
timeless() {
    sed -E 's/"(seconds|waited|exchanged|slowest|behind|time)":[^,}]*//g' "$work/$1/metrics.jsonl"
}

# is_heard RUN : somebody is connected to what its trainer publishes.  A listener
# hears what is sent while it is there.
is_heard() {
    test "$(grep -c "$work/$1/events" /proc/net/unix)" -ge 2
}

gone() {
    ! kill -0 "$1" 2>/dev/null
}

# kill_now PID... : without a chance to say good-bye
kill_now() {
    local pid
    for pid; do
        # a program of a warm Python is gone before who stands for it
        [[ -z ${python-} || ! -s $python.at.of/$pid ]] || pid=$(<"$python.at.of/$pid")
        kill -KILL "$pid"
    done
    { wait "$@"; } 2>/dev/null
    true
}

# begun NAME COMMAND... : in the background, since most of a run is waiting; what
# it starts ends with it
declare -A doing
begun() {
    (
        trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
        "${@:2}"
    ) >"$work/$1.said" 2>&1 &
    doing[$1]=$!
}

# ended NAME : it has gone well
ended() {
    wait "${doing[$1]}" || { cat "$work/$1.said"; return 1; }
}

# expect WHAT COMMAND... : in such a part, which is over without it
expect() {
    "${@:2}" || { echo "not $1"; exit 1; }
}

# warm MODULE... : $python is a Python that has imported these, and costs a fork
# (forks.py): its own start takes longer than most of what programs here do
warm() {
    local program shell=$BASHPID
    program=$(realpath -m "$BIN/../tests/forked")
    [[ -x $program ]] || {
        echo "# there is no '$program', which make ${program#"$PWD/"} makes"
        exit 1
    }
    python=$work/python
    ln -s "$program" "$python"
    # memory that is freed is kept: torch's tensors would cost a fault a page
    OMP_NUM_THREADS=1 MALLOC_MMAP_THRESHOLD_=1073741824 \
        MALLOC_TRIM_THRESHOLD_=1073741824 \
        /usr/bin/python3 "${BASH_SOURCE[0]%/*}/forks.py" "$python.at" \
        "$shell" "$@" </dev/null >/dev/null &
}

# needs_hosts WHAT PROGRAM... : ends the test with a skip where hosts that are this
# machine cannot be had, by these programs and as root
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

# needs_network WHAT : two hosts, which are network namespaces, or ends the test with a
# skip: $near at 10.64.0.1 and $far at 10.64.0.2.  unlink_hosts is for the test's end.
needs_network() {
    near=near-$$ far=far-$$
    # nor in a chroot, which is no mount
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

# on HOST COMMAND... : there, in place of this shell
on() {
    # shellcheck disable=SC2016 # for that bash
    exec ip netns exec "$1" unshare --uts bash -c 'hostname "$0"; exec "$@"' "$@"
}
