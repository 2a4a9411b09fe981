#!/usr/bin/env bash
# A selector is restarted in the middle of an epoch, with the same plan or another one.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1

# 32 steps an epoch
data=$work/data.tar epochs=3 batch=4
"$BIN/foil-data" generate -o "$data" --size 8 128 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null
options=(--arch linear --head 16) filtered=() first=()

train() {
    mkdir -p "$work/$1"
    "$BIN/foil-train" -r "$work/$1" "${options[@]}" --lr 0.1 --warmup 0 --threads 1 \
        --checkpoint-every 20 --deadline 60 "${@:2}" 2>>"$work/$1/log" &
    trainer=$!
}

augment() {
    "$BIN/foil-augment" -r "$work/$1" "${filtered[@]}" --size 8 "${@:2}" "$data" \
        2>>"$work/$1/log" &
}

plan() {
    "$BIN/foil-select" -r "$work/$1" -b "$batch" -e "$epochs" "${@:2}" "$data" \
        2>>"$work/$1/log" &
    selector=$!
}

# half RUN TRAINER-OPTION... : a run that waits in epoch 1 at step 8
half() {
    train "$@"
    augment "$1" --max-items 40
    plan "$1" "${first[@]}"
    expect '40 steps' reaches "$1" 40
    kill_now "$selector"
}

# swapped RUN SELECT-OPTION... : such a run is completed by another selector
swapped() {
    half "$1" --keep-features 2
    augment "$1"
    plan "$@"
    wait "$trainer"
}

# smaller RUN : such a run is completed with smaller batches
smaller() {
    half "$1" --keep-features 2
    augment "$1"
    batch=3
    plan "$1"
    wait "$trainer"
}

# resumed RUN SELECT-OPTION... : as swapped, but the trainer is killed and resumed, too
resumed() {
    half "$1" --keep-features 2
    expect 'a checkpoint of step 40' becomes_true test -e "$work/$1/step-00000040"
    kill_now "$trainer"
    train "$1" --resume
    augment "$1"
    plan "$@"
    wait "$trainer"
}

# ahead RUN SELECT-OPTION... : another selector starts while the trainer is stopped in one
# epoch and augmenters have made batches of the next one
ahead() {
    train "$1" --keep-features 2 --window 40
    augment "$1"
    plan "$1"
    expect '3 steps' reaches "$1" 3
    kill -STOP "$trainer"
    nap 1 # for the augmenter to make those batches
    kill_now "$selector"
    plan "$@"
    expect 'a selector that reads the plan of the epoch' \
        becomes_true grep -q 'began with another plan' "$work/$1/log"
    kill -CONT "$trainer"
    wait "$trainer"
}

# two RUN : another trainer with augmenters of its own takes the plan of the first one
two() {
    epochs=999
    train "$1" --window 2
    plan "$1"
    augment "$1"
    expect '3 steps' reaches "$1" 3
    train "$1.other" --window 2
    augment "$1.other" --plan "ipc://$work/$1/plan"
    expect 'a line of the selector' \
        becomes_true grep -q 'foil-select: .*two trainers want this plan' "$work/$1/log"
    becomes_true grep -q 'foil-augment: .*two trainers want this plan' "$work/$1/log"
}

# features RUN SELECT-OPTION... : as swapped, from a plan by features
features() {
    first=(--strategy swap --lag 0)
    swapped "$@"
}

# filter RUN SELECT-OPTION... : as swapped, with samples that a filter adds
filter() {
    options=(--arch linear --head 16 --objective emc2) filtered=(--filter)
    mkdir "$work/$1"
    "$BIN/foil-negatives" -r "$work/$1" --filter 2>>"$work/$1.negatives" &
    swapped "$@"
}

# counts RUN : prints how many samples each epoch trained twice and never
counts() {
    /usr/bin/python3 - "$work/$1" <<'END'
import json, struct, sys
lines = [json.loads(line) for line in open(sys.argv[1] + "/batches.jsonl")]
rows = open(sys.argv[1] + "/batches.i32", "rb").read()
total, epochs = 0, {}
for line, after in zip(lines, lines[1:] + [{"first": 2**60}]):
    at = line["offset"]
    while total + 1 < after["first"] and at < len(rows):
        row = struct.unpack_from(f"<{line['width']}i", rows, at)
        at, total = at + 4 * line["width"], total + 1
        assert row[0] == total, row
        ids = row[3:3 + line["images"]]
        epochs.setdefault(row[1], []).extend(i for i in ids if i >= 0)
for epoch, ids in sorted(epochs.items()):
    print(f"epoch {epoch}: {len(ids) - len(set(ids))} twice, {128 - len(set(ids))} never")
END
}

# left_out RUN : epoch 1 trained its first 8 steps; the other epochs all samples once
left_out() {
    diff <(counts "$1") - <<END
epoch 0: 0 twice, 0 never
epoch 1: 0 twice, 96 never
epoch 2: 0 twice, 0 never
END
}

# plans RUN FILTER : the jq filter is true for the plans in batches.jsonl
plans() {
    jq -ces "map(.plan) | $2" "$work/$1/batches.jsonl"
}

# log_has RUN PATTERN : a line of the run's log matches
log_has() {
    cat "$work/$1/log"
    has_line "$2" "$work/$1/log"
}

one="--strategy shuffle -b 4 -s 0"
declare -A other=(
    [batch]='--strategy shuffle -b 3 -s 0'
    [seed]='--strategy shuffle -b 4 -s 7'
    [strategy]='--strategy swap -b 4 -s 0 --features steps --lag 0'
)

train whole --keep-features 2
augment whole
plan whole
ok 'an undisturbed run succeeds' wait "$trainer"
ok 'batches.jsonl has the plan of an undisturbed run' plans whole ". == [\"$one\"]"

start_job same swapped same
start_job batch smaller batch
start_job seed swapped seed -s 7
start_job strategy swapped strategy --strategy swap --lag 0
start_job resume resumed resume -s 7
start_job again resumed again
start_job filter filter filter -s 7
start_job ahead ahead ahead -s 7
start_job features features features -s 7
start_job two two two

ok 'a run continues after the same selector restarts in mid-epoch' job_ok same
ok 'the trainer reports no other plan after the same selector restarts' \
    bash -c "! grep 'another plan' '$work/same/log'"
ok 'the checkpoint after the selector restarts is that of the undisturbed run' \
    bash -c "diff -r '$work/whole/latest/' '$work/same/latest/'"
ok 'each epoch trains each sample once after the same selector restarts' \
    diff <(counts whole) <(counts same)
ok 'a run continues after selector and trainer restart in mid-epoch' job_ok again
ok 'the trainer reports no other plan after both restart' \
    bash -c "! grep 'another plan' '$work/again/log'"
ok 'each epoch trains each sample once after both restart' \
    diff <(counts whole) <(counts again)

begun="epoch 1 began with another plan, '$one': from step [0-9]+ on that plan is completed"
for run in batch seed strategy resume filter; do
    plan=${other[$run]:-${other[seed]}}
    ok "another $run in mid-epoch: the run succeeds" job_ok "$run"
    ok "another $run in mid-epoch: the selector reports the plan of the epoch" \
        log_has "$run" "$begun, and epoch 2 has this one"
    ok "another $run in mid-epoch: the trainer reports the next one" log_has "$run" \
        "epoch 2, step 0: another plan: '$plan', before it '$one'"
    ok "another $run in mid-epoch: both report once" \
        test "$(grep -c 'another plan' "$work/$run/log")" -eq 2
    ok "another $run in mid-epoch: each epoch trains each sample once" \
        diff <(counts whole) <(counts "$run")
    ok "another $run in mid-epoch: foil runs has both plans" jq -e \
        ".options.plan[0] == \"$one\" and (.options.plan | index(\"$plan\"))" \
        <("$BIN/foil-runs" "$work/$run")
    ok "another $run in mid-epoch: batches.jsonl has both plans" \
        plans "$run" "unique | sort == ([\"$one\", \"$plan\"] | sort)"
done

ok 'another seed while a trainer has batches of the next epoch: the run succeeds' job_ok ahead
ok 'another seed while a trainer has batches of the next epoch: each epoch has each sample once' \
    diff <(counts whole) <(counts ahead)

features="--strategy swap -b 4 -s 0 --features steps --lag 0"
ok 'after a plan by features: the run succeeds' job_ok features
ok 'after a plan by features: the selector cannot complete it' log_has features \
    "epoch 1 began with another plan, '$features', which cannot be made again here"
ok 'after a plan by features: the trainer ends the epoch' log_has features \
    "epoch 1, step 8: another plan: '${other[seed]}', before it '$features'; epoch 1 ends here"
ok 'after a plan by features: no sample twice; the next epoch has all' left_out features
ok 'after a plan by features: metrics.jsonl has the place of its end' jq -es \
    'map(select(.ended)) | length == 1 and .[0].total == 41 and
    .[0].ended == {epoch: 1, step: 8} and .[0].epoch == 2' \
    "$work/features/metrics.jsonl"

ok 'two trainers on one plan: selector and augmenter of the first one report it' job_ok two

done_testing
