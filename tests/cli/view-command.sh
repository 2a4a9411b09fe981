#!/usr/bin/env bash
# foil-augment --view-command: views by a program of the user; bitwise the same with any
# number of augmenters and after kills; errors of the program.
# Mostly waits, 14 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/commands.sh
. "${0%/*}/../commands.sh"
export OMP_NUM_THREADS=1
# shellcheck disable=SC2034 # by its name
perl="perl '$examples/view.pl'" numpy="/usr/bin/python3 '$examples/view.py'"

# 32 steps an epoch
data=$work/data.tar
"$BIN/foil-data" generate -o "$data" --size 16 256 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# whole RUN COMMAND
whole() {
    train "$1"
    augment "$1" --view-command "$2"
    plan "$1"
    ends "$1"
}

# killed RUN COMMAND : kills one of two augmenters, the programs of both, the selector and
# the trainer
killed() {
    train "$1"
    augment "$1" --view-command "echo \$\$ >>'$work/$1.program'; exec $2"
    plan "$1"
    expect 'at step 10' reaches "$1" 10
    kill_now "$augmenter"
    : >"$work/$1.program"
    augment "$1" --view-command "echo \$\$ >>'$work/$1.program'; exec $2"
    augment "$1" --view-command "echo \$\$ >>'$work/$1.program'; exec $2"
    expect 'at step 30' reaches "$1" 30
    # both, since one of them may not be called again
    xargs kill -9 <"$work/$1.program"
    expect 'at step 45' reaches "$1" 45
    kill_now "$selector" "$trainer"
    train "$1" --resume
    plan "$1"
    expect 'at step 70' reaches "$1" 70
    kill_now "$trainer" "$augmenter"
    train "$1" --resume
    ends "$1"
}

# the command is part of the recipe: both runs of a kind have the same one
with_pid() {
    echo "echo \$\$ >>'$work/killed-$1.program'; exec ${!1}"
}
kinds=(perl)
if has_python numpy; then kinds+=(numpy); fi
for kind in "${kinds[@]}"; do
    start_job "calm-$kind" whole "calm-$kind" "$(with_pid "$kind")"
    start_job "killed-$kind" killed "killed-$kind" "${!kind}"
done
killed_as_calm views "${kinds[@]}"
ok 'foil-data cannot make these views: 1' refuses 1 "made by a user's program" \
    "$BIN/foil-data" views -o "$work/again.png" "$work/calm-perl"

# ----------------------------------------------------- requests and answers

# prints its requests, and copies the image to the view, which has the same size
same="perl -e '\$| = 1; while (<STDIN>) { print STDERR \$_;
    %o = map { split /=/ } (split)[1 .. 4];
    open F, qq(+<:raw), \$ENV{FOIL_MEMORY}; sysread F, \$m, \$o{bytes}; sysseek F, 0, 0;
    for (0 .. \$o{rows} - 1) { (\$at, \$h, \$w) = unpack q(q<3), substr \$m, \$o{table} + 40 * \$_, 24;
    syswrite F, substr \$m, \$at, 3 * \$h * \$w; } print qq(ok\\n) }'"
bare() {
    train same
    "$BIN/foil-augment" -r "$work/same" --seed 5 --size 16 "$@" "$data" \
        2>>"$work/same/log" &
    stages+=($!)
    epochs=1 plan same
    ends same && timeless same >"$work/same.$1"
    rm -r "$work/same"
}
ok 'a program that copies images' bare --view-command "$same"
ok 'receives rows and size' grep -q 'foil-augment: views: views rows=16 size=16' \
    "$work/out"
ok 'views of the empty recipe' bare --recipe none
ok 'are the same' cmp "$work"/same.--{recipe,view-command}
# fails COMMAND OPTION... : the status of an augmenter with a program that fails
fails() {
    mkdir -p "$work/fails"
    "$BIN/foil-train" -r "$work/fails" --arch linear --head 8-8 --threads 1 \
        2>/dev/null &
    "$BIN/foil-select" -r "$work/fails" -b 8 -e 1 "$data" 2>/dev/null &
    local others=("$!" "$(jobs -p %-)") code=0
    "$BIN/foil-augment" -r "$work/fails" --size 8 --view-command "$@" "$data" ||
        code=$?
    kill "${others[@]}"
    wait "${others[@]}" 2>/dev/null
    rm -rf "$work/fails"
    return "$code"
}
ok 'no such program: 1' refuses 1 'views: .* code 127.*no such command' \
    fails /none/such
ok 'an error of the program: 1' refuses 1 'views: no images today' \
    fails 'read x; echo error no images today'
ok 'an unknown answer: 1' refuses 1 "answered 'hello' where 'ok' or" \
    fails 'read x; echo hello'
ok 'lines without end: 1' refuses 1 "answered 'y' where 'ok' or" \
    fails 'read x; exec yes'
ok 'a line without end: 1' refuses 1 'answered a line of over 4096 bytes' \
    fails 'read x; exec tr "\0" x </dev/zero'
ok 'messages without end: 1' refuses 1 'did not answer in time' \
    fails 'read x; yes >&2; :' --command-limit 0.2
ok 'no answer in time: 1' refuses 1 'did not answer in time' \
    fails 'read x; sleep 1000' --command-limit 0.2
ok '--view-command with --recipe: 2' refuses 2 '--recipe exclude each other' \
    "$BIN/foil-augment" -r "$work/x" --view-command x --recipe cifar "$data"
ok '--view-command with --sheet: 2' refuses 2 'sheet draws views of a recipe' \
    "$BIN/foil-augment" --sheet x.png --view-command x "$data"
ok '--command-limit without a command: 2' refuses 2 'belongs to --view-command' \
    "$BIN/foil-augment" -r "$work/x" --command-limit 3 "$data"

# ------------------------------------------------------------ a slow program

# A batch takes longer than the time-out of a silent peer; SIGTERM during the second batch
# ends the augmenter.
slow() {
    mkdir -p "$work/slow"
    "$BIN/foil-train" -r "$work/slow" --arch linear --head 8-8 --threads 1 \
        2>"$work/slow.train" &
    local train=$! select
    "$BIN/foil-select" -r "$work/slow" -b 8 -e 1 "$data" 2>"$work/slow.select" &
    select=$!
    "$BIN/foil-augment" -r "$work/slow" --size 8 --view-command \
        "read x; sleep 5; echo ok; read x; echo >'$work/slow.second'; sleep 1000" \
        "$data" 2>"$work/slow.log" &
    local augment=$! code=0
    waits_for "$work/slow.second" || code=1
    kill -TERM "$augment"
    wait "$augment" || code=1
    kill "$train" "$select"
    wait "$train" "$select" 2>/dev/null
    cat "$work"/slow.*
    return "$code"
}
ok 'foil-augment waits for a slow program, until SIGTERM: 0' slow
ok 'the selector did not reassign its items' bash -c "! grep 'is gone' '$work/slow.select'"
done_testing
