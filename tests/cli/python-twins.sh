#!/usr/bin/env bash
# In each role a stage in C is killed in mid-run and replaced by one in Python,
# which is killed and replaced by one in C: no step is lost or trained twice.
# And Python beside Python, each killed in turn.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
here=$(cd "${0%/*}/../python" && pwd)
export PATH=$BIN:$PATH PYTHONPATH=$here/../../pipelines/python
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

if ! has_python zmq msgpack numpy; then
    skip 'stages in Python' 'no python3-zmq, python3-msgpack, python3-numpy'
    done_testing
fi
warm zmq msgpack numpy
data=$work/data.tar
foil-data generate --size 8 -o "$data" 128 2>/dev/null
foil-data index "$data" 2>/dev/null

# start NAME RUN COMMAND... : a stage, its messages in a log; its number is in
# $pid[NAME]
declare -A pid=()
start() {
    "${@:3}" >>"$work/$2/log" 2>&1 &
    pid[$1]=$!
}
stage() {
    start "$1" "$2" "$python" "$here/stage.py" "$3" "$work/$2" "${@:4}"
}

# The stages of run $1, in C; a batch is 8 samples, an epoch 16 steps.
c_train() {
    start train "$1" foil-train -r "$work/$1" --arch linear --hidden 12 \
        --head none --threads 1 --checkpoint-every 20 --keep-features 2 \
        "${@:2}"
}
c_select() {
    start select "$1" foil-select -r "$work/$1" -b 8 -e "$epochs" "$data"
}
c_augment() {
    start augment "$1" foil-augment -r "$work/$1" --size 8 "$data"
}
c_negatives() {
    start negatives "$1" foil-negatives -r "$work/$1"
}

# come RUN STEPS : so many steps get trained, however long that takes
come() {
    until has_steps "$1" "$2"; do
        kill -0 "${pid[train]}" 2>/dev/null || return
        nap 0.05
    done
}

# swap NAME RUN STEPS COMMAND... : once so many steps are trained, kill a stage
# and start the command in its place
swap() {
    come "$2" "$3" || echo "not past step $3" >>"$work/$2/stuck"
    kill_now "${pid[$1]}"
    "${@:4}"
}

# ends RUN : the trainer ends, and its steps are those of the plan, in order
ends() {
    local code=0 name
    wait "${pid[train]}" || code=$?
    for name in "${!pid[@]}"; do
        [[ $name == negatives ]] && kill "${pid[$name]}" 2>/dev/null
        becomes_true gone "${pid[$name]}" || echo "$name does not end"
    done
    cat "$work/$1/log"
    [[ ! -e $work/$1/stuck ]] || { cat "$work/$1/stuck"; return 1; }
    tail -n 1 "$work/$1/metrics.jsonl"
    jq -se --argjson epochs "$epochs" 'map([.total, .epoch, .step]) ==
        [range(16 * $epochs) | [. + 1, (. / 16 | floor), . % 16]]' \
        "$work/$1/metrics.jsonl" && return "$code"
}

trainers() {
    c_train train
    c_select train
    stage augment train augment "$data" nap=0.001
    swap train train 40 stage train train train resume=1 save=20 keep=2
    swap train train 70 c_train train --resume
    ends train
}

selectors() {
    c_train select
    c_select select
    stage augment select augment "$data" nap=0.001
    swap select select 40 stage select select select "$data" epochs="$epochs"
    swap select select 70 c_select select
    ends select
}

# All augmenters of a run have one recipe.
augmenters() {
    stage train augment train nap=0.01
    c_select augment
    c_augment augment
    becomes_true grep -q 'recipe' "$work/augment/log"
    recipe=$(sed -n 's/.*recipe \([0-9a-f]\{32\}\).*/\1/p' \
        "$work/augment/log" | head -1)
    swap augment augment 40 stage augment augment augment "$data" \
        recipe="$recipe"
    swap augment augment 70 c_augment augment
    ends augment
}

# A sampler of the same name is given the same state, and keeps it as it is.
samplers() {
    c_train negatives --objective emc2
    c_select negatives
    stage augment negatives augment "$data" nap=0.001
    c_negatives negatives
    come negatives 40
    sampler=$("$python" -c 'import foil, sys
print(foil.checkpoint(sys.argv[1]).state["sampler"])' "$work/negatives")
    swap negatives negatives 40 stage negatives negatives negatives \
        sampler="$sampler"
    swap negatives negatives 70 c_negatives negatives
    ends negatives
}

# Python alone: every stage is killed, one after another.
all_python() {
    local at=20
    stage train storm train ask=1 nap=0.02 save=10 keep=2
    stage select storm select "$data" lag=1 epochs="$epochs"
    stage augment storm augment "$data"
    stage negatives storm negatives kept=1
    for _ in 1 2; do
        swap select storm $((at += 9)) stage select storm select "$data" \
            lag=1 epochs="$epochs"
        swap negatives storm $((at += 9)) stage negatives storm negatives \
            kept=1
        swap augment storm $((at += 9)) stage augment storm augment "$data"
        swap train storm $((at += 9)) stage train storm train ask=1 \
            nap=0.02 save=10 keep=2 resume=1
    done
    ends storm && jq -se 'all(.[]; .most == .epoch + 1)' "$work/storm/metrics.jsonl"
}

# Steps that take longer than the 3 seconds after which a silent peer is gone.
slow() {
    stage train slow train ask=1 keep=1 nap=4
    start select slow foil-select -r "$work/slow" -b 64 -e 1 "$data"
    c_augment slow
    c_negatives slow
    wait "${pid[train]}" || return
    kill "${pid[negatives]}"
    cat "$work/slow/log"
    exits 1 grep 'is gone' "$work/slow/log"
}

epochs=7
for run in train select augment negatives storm slow; do
    mkdir -m 700 "$work/$run"
done
declare -A job=()
trainers >"$work/train.out" 2>&1 & job[train]=$!
selectors >"$work/select.out" 2>&1 & job[select]=$!
augmenters >"$work/augment.out" 2>&1 & job[augment]=$!
samplers >"$work/negatives.out" 2>&1 & job[negatives]=$!
all_python >"$work/storm.out" 2>&1 & job[storm]=$!

slow >"$work/slow.out" 2>&1 & job[slow]=$!

# went RUN : it ended well, with all its steps
went() {
    local code=0
    wait "${job[$1]}" || code=$?
    cat "$work/$1.out"
    return "$code"
}
ok 'the trainer: C, Python, C' went train
ok 'the selector: C, Python, C' went select
ok 'the augmenter: C, Python, C' went augment
ok 'the sampler: C, Python, C' went negatives
ok 'all stages in Python, each killed twice' went storm
ok 'steps of 4 seconds: nobody is lost' went slow
done_testing
