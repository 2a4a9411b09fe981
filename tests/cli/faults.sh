#!/usr/bin/env bash
# Faults in runs of a second or two: whichever process is killed, the run ends with the
# checkpoint of an undisturbed run, bit for bit.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1

data=$work/data.tar
if ! "$BIN/foil-data" generate -o "$data" --size 16 512 2>/dev/null ||
    ! "$BIN/foil-data" index "$data" 2>/dev/null; then
    echo "1..0 # SKIP no data set could be made"
    exit 1
fi

# --------------------------------------------------------- start and compare a run

# Each starts a stage of the run in $work/$1; its messages go to a log there.
train() {
    "$BIN/foil-train" -r "$work/$1" --arch linear --head 32-16 --lr 0.1 \
        --warmup 0 --seed 5 --threads 1 --checkpoint-every 50 "${@:2}" \
        2>>"$work/$1/log" &
    trainer=$!
}

augment() {
    "$BIN/foil-augment" -r "$work/$1" --seed 5 --size 8 "${@:2}" "$data" \
        2>>"$work/$1/log" &
    augmenter=$!
}

select_batches() {
    "$BIN/foil-select" -r "$work/$1" --seed 5 --batch 8 --epochs 12 "$data" \
        2>>"$work/$1/log" &
    selector=$!
}

# begin RUN : starts all stages, with two augmenters $first and $second
begin() {
    mkdir -m 700 "$work/$1"
    train "$1"
    augment "$1"
    first=$augmenter
    augment "$1"
    second=$augmenter
    select_batches "$1"
}

# ends RUN : the trainer exits with 0, and the others end by themselves
ends() {
    local code=0 pid
    wait "$trainer" || code=$?
    cat "$work/$1/log"
    for pid in $(jobs -p); do
        becomes_true gone "$pid" || { ps -o pid,stat,args "$pid"; return 1; }
    done
    return "$code"
}

tensors='model head optim samples'

# like_calm RUN : it has the last checkpoint and the metrics of the undisturbed run,
# without times
like_calm() {
    local name
    for name in $tensors; do
        cmp "$work/calm/latest/$name.safetensors" \
            "$work/$1/latest/$name.safetensors" || return
    done
    diff "$work/calm.metrics" <(timeless "$1")
}

# ------------------------------------- runs with one fault each

calm() {
    begin calm
    ends calm
}

# a trainer is killed after its feeders have ended, and restarted without them
finished() {
    train finished --resume
    ends finished
}

# one of two augmenters is killed in mid-epoch
augmenter() {
    begin augmenter
    reaches augmenter 100 && kill_now "$first" && ends augmenter
}

# both augmenters are killed after a third one has connected
joined() {
    begin joined
    reaches joined 100 && augment joined && kill_now "$first" "$second" &&
        ends joined
}

selector() {
    begin selector
    reaches selector 100 && kill_now "$selector" && select_batches selector &&
        ends selector
}

trainer() {
    begin trainer
    reaches trainer 220 && kill_now "$trainer" && train trainer --resume &&
        ends trainer
}

# all stages are killed, and resumed with one augmenter
all() {
    begin all
    reaches all 330 && kill_now "$trainer" "$first" "$second" "$selector" &&
        test -e "$work/all/latest/MANIFEST.json" || return
    train all --resume
    augment all
    select_batches all
    ends all
}

# an augmenter without a trainer gets the end of the run from the selector
lonely() {
    begin lonely
    augment lonely --batches "ipc://$work/lonely/nowhere"
    ends lonely
}

pipeline=("$BIN/foil" run simclr "$data" --seed 5 --threads 1 --batch 8
    --epochs 12 --augment '--size 8' --train '--arch linear --head 32-16'
    --train '--lr 0.1 --warmup 0 --objective ,tau=0.5 --checkpoint-every 50')

nothing_left() {
    ! pgrep -f -- "-r $work/$1" || return
}

# SIGTERM, as Ctrl-C
stopped() {
    "${pipeline[@]}" -r "$work/stopped" &
    trainer=$!
    reaches stopped 100 && kill -TERM "$trainer" || return
    exits 143 wait "$trainer" && nothing_left stopped
}

# ------------------------------------------------------------------ kill -9

# several at a time, since they mostly wait for connections to time out
start_job lonely lonely
start_job augmenter augmenter
start_job calm calm
ok 'an undisturbed run succeeds' job_ok calm
ok 'an undisturbed run trains all steps' test "$(steps calm)" -eq 768
timeless calm >"$work/calm.metrics"
cp -r "$work/calm" "$work/finished"
start_job finished finished

start_job joined joined
start_job selector selector
ok 'two augmenters are killed and one connects: the run ends' job_ok joined
ok 'two augmenters are killed and one connects: the result is the same' \
    like_calm joined
start_job trainer trainer
ok 'the selector is killed and restarted: the run ends' job_ok selector
ok 'the selector is killed and restarted: the result is the same' \
    like_calm selector
start_job all all
ok 'the trainer is killed and resumed: the run ends' job_ok trainer
ok 'the trainer is killed and resumed: the result is the same' \
    like_calm trainer
start_job piped "${pipeline[@]}" -r "$work/piped"
ok 'all stages are killed, resumed with one augmenter: the run ends' \
    job_ok all
ok 'all stages are killed, resumed with one augmenter: the result is the same' \
    like_calm all
ok 'one of two augmenters is killed: the run ends' job_ok augmenter
ok 'one of two augmenters is killed: the result is the same' \
    like_calm augmenter
waited=$(jq -s 'map(.waited) | max' "$work/augmenter/metrics.jsonl")
echo "# the trainer waited $waited s at most"
ok 'an augmenter has no trainer: the run ends, and so does it' job_ok lonely
ok 'an augmenter has no trainer: the result is the same' \
    like_calm lonely

# removes_run : deletes the folder of a run while it trains
removes_run() {
    local run=$work/removed code=0 others
    mkdir -m 700 "$run"
    "$BIN/foil-train" -r "$run" --arch linear --head 32-16 --lr 0.1 --warmup 0 \
        --threads 1 2>"$work/removed.err" &
    trainer=$!
    "$BIN/foil-select" -r "$run" --batch 8 --epochs 100000 "$data" 2>/dev/null &
    others=$!
    "$BIN/foil-augment" -r "$run" --size 8 "$data" 2>/dev/null &
    others+=" $!"
    reaches removed 20 || return 1
    rm -rf "$run"
    wait "$trainer" || code=$?
    # shellcheck disable=SC2086 # several PIDs
    kill $others 2>/dev/null
    cat "$work/removed.err"
    [[ $code -eq 1 ]] && grep -q "removed' was removed during training" \
        "$work/removed.err"
}
ok 'a deleted run directory ends the trainer with 1 and a message' removes_run

# ------------------------------------------------------------- the pipeline

start_job stopped stopped
ok 'a run as a pipeline succeeds' job_ok piped
ok 'a run as a pipeline has the same result' like_calm piped
ok 'SIGTERM ends a pipeline with 143 and leaves no process' job_ok stopped
ok 'the trainer saves a checkpoint after SIGTERM' \
    grep -q '; saved in ' "$work/stopped.job"
ok 'a pipeline resumes after SIGTERM' "${pipeline[@]}" -r "$work/stopped" --resume
ok 'a pipeline resumed after SIGTERM has the same result' like_calm stopped
ok 'a resumed pipeline leaves no process' nothing_left stopped
ok 'a finished run that is resumed without feeders ends' job_ok finished
ok 'the trainer reports that the run is finished' \
    grep -q 'nothing is left to do after 768 steps' "$work/finished/log"
ok 'a finished run that is resumed has the same result' like_calm finished
done_testing
