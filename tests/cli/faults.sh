#!/usr/bin/env bash
# What must hold under faults, with a run of a second or two: whatever is
# killed, the run ends with the checkpoint of an undisturbed one, bit for bit.
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

# --------------------------------------------------------- a run by hand

# Each starts a stage of the run in $work/$1, its messages in a log there.
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

# begin RUN : all stages; two augmenters, first and second
begin() {
    mkdir -m 700 "$work/$1"
    train "$1"
    augment "$1"
    first=$augmenter
    augment "$1"
    second=$augmenter
    select_batches "$1"
}

# ends RUN : the trainer ends well, and so the others, by themselves
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

# like_calm RUN : its last checkpoint and its metrics are those of the
# undisturbed run; times are no part of a result
like_calm() {
    local name
    for name in $tensors; do
        cmp "$work/calm/latest/$name.safetensors" \
            "$work/$1/latest/$name.safetensors" || return
    done
    diff "$work/calm.metrics" <(timeless "$1")
}

# ------------------------------------- what is done to a run, up to its end

calm() {
    begin calm
    ends calm
}

# a trainer that was killed when its feeders had ended already, and is started
# again without them
finished() {
    train finished --resume
    ends finished
}

# one of two augmenters is killed in the middle of an epoch
augmenter() {
    begin augmenter
    past augmenter 100 && kill_now "$first" && ends augmenter
}

# both are killed when one has joined
joined() {
    begin joined
    past joined 100 && augment joined && kill_now "$first" "$second" &&
        ends joined
}

selector() {
    begin selector
    past selector 100 && kill_now "$selector" && select_batches selector &&
        ends selector
}

trainer() {
    begin trainer
    past trainer 220 && kill_now "$trainer" && train trainer --resume &&
        ends trainer
}

# all are killed, and resumed with one augmenter
all() {
    begin all
    past all 330 && kill_now "$trainer" "$first" "$second" "$selector" &&
        test -e "$work/all/latest/MANIFEST.json" || return
    train all --resume
    augment all
    select_batches all
    ends all
}

# an augmenter that finds no trainer hears from the selector that all is over
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
    past stopped 100 && kill -TERM "$trainer" || return
    exits 143 wait "$trainer" && nothing_left stopped
}

# ------------------------------------------------------------------ kill -9

# some at a time: most of each is waiting, to see who is gone
begun lonely lonely
begun augmenter augmenter
begun calm calm
ok 'an undisturbed run ends' ended calm
ok 'with all its steps' test "$(steps calm)" -eq 768
timeless calm >"$work/calm.metrics"
cp -r "$work/calm" "$work/finished"
begun finished finished

begun joined joined
begun selector selector
ok 'two are killed, one has joined: the run goes on' ended joined
ok 'two are killed, one has joined: the run goes on, to the same bits' \
    like_calm joined
begun trainer trainer
ok 'the selector is killed: the next one takes over' ended selector
ok 'the selector is killed: the next one takes over, to the same bits' \
    like_calm selector
begun all all
ok 'the trainer is killed: resumed beside its feeders' ended trainer
ok 'the trainer is killed: resumed beside its feeders, to the same bits' \
    like_calm trainer
begun piped "${pipeline[@]}" -r "$work/piped"
ok 'all are killed: no checkpoint is broken, resumed with one augmenter' \
    ended all
ok 'resumed with one augmenter, to the same bits' like_calm all
ok 'one of two augmenters is killed: the run goes on' ended augmenter
ok 'one of two augmenters is killed: the run goes on, to the same bits' \
    like_calm augmenter
waited=$(jq -s 'map(.waited) | max' "$work/augmenter/metrics.jsonl")
echo "# the trainer waited $waited s at most"
ok 'an augmenter without a trainer: the run ends, and it too' ended lonely
ok 'an augmenter without a trainer: the run ends, and it too, to the same bits' \
    like_calm lonely

# removes_run : the folder of a run, while it is trained
removes_run() {
    local run=$work/removed code=0 others
    mkdir -m 700 "$run"
    "$BIN/foil-train" -r "$run" --arch linear --head 32-16 --lr 0.1 --warmup 0 \
        --threads 1 2>"$work/removed.said" &
    trainer=$!
    "$BIN/foil-select" -r "$run" --batch 8 --epochs 100000 "$data" 2>/dev/null &
    others=$!
    "$BIN/foil-augment" -r "$run" --size 8 "$data" 2>/dev/null &
    others+=" $!"
    past removed 20 || return 1
    rm -rf "$run"
    wait "$trainer" || code=$?
    # shellcheck disable=SC2086 # two
    kill $others 2>/dev/null
    cat "$work/removed.said"
    [[ $code -eq 1 ]] && grep -q "removed' was removed during training" \
        "$work/removed.said"
}
ok 'a run whose folder is removed ends, and says why: 1' removes_run

# ------------------------------------------------------------- the pipeline

begun stopped stopped
ok 'as a pipeline' ended piped
ok 'the same bits' like_calm piped
ok 'SIGTERM, as Ctrl-C: 143, nothing is left' ended stopped
ok 'the trainer saved' grep -q '; saved in ' "$work/stopped.said"
ok 'resumed' "${pipeline[@]}" -r "$work/stopped" --resume
ok 'resumed, to the same bits' like_calm stopped
ok 'resumed, nothing is left' nothing_left stopped
ok 'a finished run that is resumed alone ends by itself' ended finished
ok 'and says that it is finished' \
    grep -q 'nothing is left to do after 768 steps' "$work/finished/log"
ok 'with the same bits' like_calm finished
done_testing
