#!/usr/bin/env bash
# Numbers of the program that makes views reach the loss: i-Mix by mixer.py and imix.py has
# the same result after kills, and wrong numbers are refused.
# Not for sanitizers: programs in Python; view-command.sh has their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/commands.sh
. "${0%/*}/../commands.sh"
if ! has_python numpy torch; then
    skip 'numbers of views' 'no python3-torch'
    done_testing
fi
here=$(cd "${0%/*}" && pwd)
export PATH=$BIN:$PATH OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 epochs=3
data=$work/data.tar
foil-data generate -o "$data" --size 16 256 2>/dev/null
foil-data index "$data" 2>/dev/null
warm numpy torch
mixer="/usr/bin/python3 '$here/../../pipelines/python/mixer.py'"
program="FOIL_MEMORY=/proc/\$\$/fd/3 exec '$python' '$here/methods.py' imix $data"

# train RUN OPTION... : as in commands.sh, with that encoder
train() {
    mkdir -p "$work/$1"
    foil-train -r "$work/$1" --objective external --encoder "$program" --optim adamw \
        --lr 1e-3 --warmup 0 --seed 5 --threads 1 --checkpoint-every 25 --deadline 60 \
        "${@:2}" 2>>"$work/$1/log" &
    trainer=$!
}
mixed() {
    foil-augment -r "$work/$1" --seed 5 --size 16 --view-command "$mixer" "$data" \
        2>>"$work/$1/log" &
    augmenter=$!
    stages+=($!)
}
whole() {
    train "$@"
    mixed "$1"
    plan "$1"
    ends "$1"
}
killed() {
    train "$1"
    mixed "$1"
    plan "$1"
    expect 'at step 10' reaches "$1" 10
    kill_now "$augmenter"
    mixed "$1"
    mixed "$1"
    expect 'at step 45' reaches "$1" 45
    kill_now "$trainer"
    train "$1" --resume
    ends "$1"
}
start_job calm whole calm
start_job killed killed killed
ok 'i-Mix trains on mixed views' job_ok calm
ok 'i-Mix trains when an augmenter and the trainer are killed' job_ok killed
ok 'the killed run gives the same bits' like calm killed

mixer="/usr/bin/python3 '$here/made.py' views"
program="FOIL_MEMORY=/proc/\$\$/fd/3 exec '$python' '$here/made.py' loss"
ok 'a loss checks the numbers of its views' whole checked --mean 0,0,0 --deviation 1,1,1
ok 'the loss has the numbers of its views' jq -se \
    'length == 96 and all(.right == 1)' "$work/checked/metrics.jsonl"

# refused COMMAND SENTENCE : an augmenter with a program that answers so exits with 1
refused() {
    local code=0
    train bad
    plan bad
    foil-augment -r "$work/bad" --size 16 --view-command "$1" "$data" \
        >"$work/refused" 2>&1 || code=$?
    kill "$trainer" "${stages[@]}"
    wait "$trainer" "${stages[@]}" 2>/dev/null
    stages=()
    rm -r "$work/bad"
    cat "$work/refused"
    [[ $code -eq 1 ]] && grep -qE "$2" "$work/refused"
}
ok 'more than ten numbers of a row exit with 1' \
    refused 'read x; echo ok made=11' 'answered made=11: want 1 to 10'
ok 'a number that is not finite exits with 1' refused "perl -e '<>; open F, qq(+<),
    \$ENV{FOIL_MEMORY}; seek F, 16 * 16 * 16 * 3, 0; syswrite F, qq(\\xff) x 64;
    print qq(ok made=1\n)'" 'made a number that is not finite'
program='' # the trainer's own encoder, with an objective that reads no numbers
train() {
    mkdir -p "$work/$1"
    foil-train -r "$work/$1" --arch linear --threads 1 --deadline 60 2>>"$work/$1/log" &
    trainer=$!
}
ok 'numbers that no loss reads exit with 1' refused 'while read x; do echo ok made=1; done' \
    'only --objective external reads them'
done_testing
