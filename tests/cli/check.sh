#!/bin/bash
# The conformance kit: every stage of foil keeps all rules, also with a user's command,
# and the kit reports each rule that a stage breaks.  broken.py, a proxy between the kit
# and a stage, breaks the rules.  FAULTS=all breaks every rule once, which takes some
# minutes; otherwise each sixth rule.
# Mostly waits, 65 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

tap=$BIN/foil-tap
broken=${0%/*}/broken.py
commands=$(cd "${0%/*}/../../pipelines/commands" && pwd)
export PATH=$BIN:$PATH OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

"$BIN/foil-data" generate --size 16 -o "$work/set.tar" 64 2>/dev/null
"$BIN/foil-data" index "$work/set.tar" 2>/dev/null

# the last endpoint that is bound when a stage of that role is ready
declare -A edge=([select]=plan [augment]=batch [train]=batch
    [negatives]=negatives)

# stage ROLE DIR : starts a stage of foil alone in that run directory and waits until it
# is ready: the kit waits seconds for a hello, but not for the start of a program
stage() {
    mkdir -p "$2"
    case $1 in
    select) set -- "$@" -b 8 -e 4 --lease "${lease:-2}" "$work/set.tar" ;;
    augment) set -- "$@" --size 16 "$work/set.tar" ;;
    train) set -- "$@" --arch linear --head 8-8 --threads 1 ;;
    esac
    case $2 in
    */select-command)
        set -- "$@" --features none --strategy-command "mawk -Winteractive -f '$commands/strategy.awk'"
        ;;
    */augment-command) set -- "$@" --view-command "perl '$commands/view.pl'" ;;
    */negatives-command) set -- "$@" --weigh-command "perl '$commands/weigh.pl'" ;;
    esac
    "$BIN/foil-$1" -r "${@:2}" 2>"$2.log" &
    stages+=($!)
    case $1 in
    augment) waits_for "$2.log" ;;
    *) becomes_true test -S "$2/${edge[$1]}" ;;
    esac
}

# keeps ROLE [NAME] : the kit checks a stage of foil in the folder NAME
keeps() {
    local name=${2:-$1}
    stage "$1" "$work/$name"
    "$tap" check "$1" -r "$work/$name" --lease 2 >"$work/$name.out"
}

# python_keeps : the same for the example that implements foil-wire(5) itself and has a
# lease of ten seconds
python_keeps() {
    mkdir -m 700 "$work/spoken"
    /usr/bin/python3 "$commands/../examples/selector.py" "$work/spoken" 8 4 \
        "$work/set.tar" 2>"$work/spoken.log" &
    stages+=($!)
    becomes_true test -S "$work/spoken/plan"
    "$tap" check select -r "$work/spoken" --lease 10 >"$work/spoken.out" ||
        { cat "$work"/spoken.{out,log}; return 1; }
}

# breaks NUMBER ROLE FAULT RULE : with that fault the kit reports that rule
breaks() {
    local dir=$work/$1 at=$work/$1.front lease=2
    [[ $3 != patient && $3 != lives* ]] || lease=600
    lease=$lease stage "$2" "$dir"
    mkdir "$dir.front"
    # shellcheck disable=SC2086 # a fault is several words
    "$python" "$broken" "$2" "$dir" "$dir.front" $3 2>"$dir.err" &
    stages+=($!)
    [[ $2 != augment ]] || at=$dir
    becomes_true test -S "$at/${edge[$2]}"
    exits 1 "$tap" check "$2" -r "$dir.front" --lease 2 -n 1 >"$dir.out"
    grep -A 9 -E "^(not ok|Bail out!) .*$4" "$dir.out" |
        grep -qE '^(# see: foil-wire\(5\), [A-Z]|Bail out!)' || { cat "$dir.out" "$dir.err"; return 1; }
}

stages=() faults=() n=0
has_python zmq msgpack || { skip 'foil-tap check' 'no python3-zmq'; done_testing; }
warm zmq msgpack
for role in select augment train negatives; do
    start_job "$role" keeps "$role"
done
# with a user's command in the stage
for role in select augment negatives; do
    start_job "$role-command" keeps "$role" "$role-command"
done
start_job python python_keeps

while IFS='|' read -r role fault rule; do
    [[ ${FAULTS-} != all && $((n++ % 6)) != 4 ]] ||
        faults+=("$role|$fault|$rule")
done <<'end'
select|hides hello|answers a hello with its own
select|sets hello stage "tap"|has the stage select
select|hides hello 4|second hello is answered
select|hurries|sends no item before one is wanted
select|sets item step +1|lowest wanted places first
select|since item 2 repeats item 2|no more items than the peer has room
select|since want 3 echoes want item|a repeated snapshot changes nothing
select|since want 22 echoes want item|an older snapshot changes nothing
select|misled want|what the consumer holds makes room
select|mishears want step 0|trained steps make room
select|shuns peer 2|second peer is greeted
select|since item 7 sets item step 4|one peer at a time
select|lives heartbeat|items of a lost peer
select|patient|older than the lease
select|keeps want session|newer session begins
select|since item 13 spoils item ids|same ids in every session
select|hides error 1|without its window is answered
select|hides error 2|two days ahead
select|repeats error 9|no busy loop
select|since error 2 hides item|served as before
select|shuns peer 3|third peer is greeted
select|since want 60 echoes want item|200 snapshots at once
select|deafens end|ends within 10 s
select|garbles item|every message is well-formed
augment|on plan hides hello|sends a hello to the selector
augment|on batch hides hello|hello to the trainer
augment|on batch sets hello recipe null|a recipe
augment|sets hello dataset.size 2|data set has 2 images, too few
augment|hides heartbeat|sends a heartbeat on
augment|hides want|relays the trainer's snapshot
augment|sets want room null|adds its room
augment|spoils batch ids|becomes a batch
augment|sets batch step +1|becomes a batch
augment|repeats batch 2|item of another session is dropped
augment|since item 3 mishears item step 7|an item that is trained already
augment|hides error 1|an id twice
augment|hides error 2|outside of the data set
augment|hides error 3|an item without
augment|repeats error 9|no busy loop
augment|since error 3 hides batch|next item is made as before
augment|since batch 3 hides hello|sends a new hello to a restarted selector
augment|since batch 3 hides want|relays the newest snapshot again
augment|since hello 6 sets want serial +1|relays the newest snapshot again
augment|since batch 4 spoils batch views|same views in every session
augment|since batch 4 hides want|of 200 snapshots at once
augment|hides batch 12|32 items at once
augment|on batch since end 1 lives heartbeat|ends with the run of the trainer
train|hides hello|answers a hello with its own
train|sets hello stage "tap"|has the stage train
train|hides want|sends a snapshot within
train|sets want session 9000000000000000000|time of its start
train|sets want step +1|in a new run directory
train|sets want serial 1|new snapshot each second
train|bare want|held, and reported as held
train|since batch 1 sets want step 1|not trained yet
train|since batch 2 sets want step 1|changes nothing
train|since batch 4 sets want step 1|both are trained in order
train|hides error 1|outside of the data set
train|hides error 2|a batch with an id twice
train|hides error 3|a batch without
train|since error 3 sets want step 3|no batch with an error is trained
train|since error 4 hides error|a batch of another size
train|since error 4 hides hello|reconnects is greeted
train|since error 4 hides want|reconnects gets a snapshot
train|hides error 5|with another recipe is refused
train|since batch 9 bare want|64 times at once
train|hides end|the end of the run after
negatives|hides hello|answers a hello with its own
negatives|sets hello sampler null|that of its sampler
negatives|hides error 1|before a state
negatives|hides ok|an empty state is accepted
negatives|hides weights|pairs are answered with weights
negatives|spoils weights w|pairs are answered with weights
negatives|swaps weights w|their rows sum to 1
negatives|since weights 2 spoils weights w|gets the same answer
negatives|since weights 9 hides weights|19 further steps
negatives|hides error 2|an id outside
negatives|hides error 3|not of unit length
negatives|since error 3 hides weights|next request is answered as before
negatives|hides error 4|without its tables
negatives|hides error 5|state of another sampler
negatives|hides error 6|while the first is connected
negatives|since error 6 hides weights|is answered as before
negatives|hides weights 40|64 requests at once
negatives|hides error 7|below that of the last answer
end

# short : a correct selector with epochs that are too short for the kit
short() {
    mkdir -m 700 "$work/short"
    "$BIN/foil-select" -r "$work/short" -b 32 -e 4 "$work/set.tar" 2>/dev/null &
    stages+=($!)
    becomes_true test -S "$work/short/plan"
    exits 1 "$tap" check select -r "$work/short" >"$work/short.out" 2>&1
    grep '^not ok' "$work/short.out" && return 1
    grep '^Bail out!  its epochs have 2 steps, too few for the checks' \
        "$work/short.out"
}
ok 'the kit bails out if an epoch of the plan is too short' short

# lane K : checks one fault after the other, from the Kth in steps of $lanes, since all
# 85 at once would be too slow for the time limits
lanes=$((${#faults[@]} > 20 ? 10 : ${#faults[@]}))
lane() {
    local i code role fault rule
    for ((i = $1; i < ${#faults[@]}; i += lanes)); do
        IFS='|' read -r role fault rule <<<"${faults[i]}"
        code=0
        breaks "$i" "$role" "$fault" "$rule" >"$work/$i.breaks" 2>&1 || code=1
        kill "${stages[@]}" 2>/dev/null
        stages=()
        echo "$code" >"$work/$i.code"
    done
}
reported() {
    cat "$work/$1.breaks"
    [[ $(<"$work/$1.code") == 0 ]]
}
# Correct stages first, since they have time limits; the example has a long lease.  If
# each fault has its own lane, the lanes of an augmenter start with them, since the kit
# waits longest there.
is_early() {
    ((lanes == ${#faults[@]})) && [[ ${faults[$1]} == augment* ]]
}
for ((i = 0; i < lanes; i++)); do
    ! is_early "$i" || start_job "lane$i" lane "$i"
done
for role in select augment train negatives; do
    ok "foil-$role keeps every rule of foil-wire(5)" job_ok "$role"
done
for ((i = 0; i < lanes; i++)); do
    is_early "$i" || start_job "lane$i" lane "$i"
done
for role in select augment negatives; do
    ok "foil-$role with a command keeps every rule of foil-wire(5)" job_ok "$role-command"
done
ok 'the selector in Python keeps every rule of foil-wire(5)' job_ok python
for ((i = 0; i < lanes; i++)); do
    job_ok "lane$i"
done
for ((i = 0; i < ${#faults[@]}; i++)); do
    IFS='|' read -r role fault rule <<<"${faults[i]}"
    ok "foil-tap check $role reports the fault '$fault': $rule" reported "$i"
done

ok 'foil-tap check of an unknown role exits with 2' \
    refuses 2 "no role 'cook'" "$tap" check cook -r "$work"
ok 'foil-tap check without a run exits with 2' refuses 2 'check needs -r' "$tap" check select
kill "${stages[@]}" 2>/dev/null
done_testing
