#!/usr/bin/env bash
# foil-data views makes the views of a step again from the run directory: byte for byte
# those that were sent, during the run and afterwards.
# Not for sanitizers: other tests run the stages and make views.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
here=$(cd "${0%/*}" && pwd)

if ! has_python numpy PIL; then
    skip 'views' 'no python3-numpy, python3-pil'
    done_testing
    exit
fi
warm json numpy PIL.Image
cd "$work" || exit
"$BIN/foil-data" generate --size 24 -o set.tar 61 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
mkdir folder
tar -xf set.tar -C folder
"$BIN/foil-data" index folder 2>/dev/null

# train RUN OPTIONS... : starts a trainer
train() {
    "$BIN/foil-train" -r "$1" --arch "${arch-linear}" --head 8 --lr 0.02 --warmup 0 \
        --threads 1 --deadline 60 "${@:2}" 2>>"$1.train" &
    trainer=$!
}

# feed RUN DATA OPTIONS... : starts the other stages and records their batches
feed() {
    "$BIN/foil-tap" -q -w "$1.rec" proxy "ipc://$1/tap" "ipc://$1/batch" \
        2>>"$1.tap" &
    taps+=($!)
    "$BIN/foil-augment" -r "$1" --batches "ipc://$1/tap" "${@:3}" "$2" \
        2>>"$1.augment" &
    "$BIN/foil-select" -r "$1" -b 8 -e "${epochs-2}" "$2" 2>>"$1.select" &
}

# ends RUN : waits for the trainer, and prints the logs if it failed
ends() {
    local code=0
    wait "$trainer" || code=$?
    [[ $code -eq 0 ]] || cat "$1".{train,augment,select}
    return "$code"
}

# whole RUN DATA OPTIONS... : a complete run
whole() {
    mkdir -m 700 "$1"
    train "$1" "${training[@]}"
    feed "$@"
    ends "$1"
}

# again RUN OPTIONS... : makes all views again and compares them with the recording
again() {
    "$BIN/foil-tap" -f -k batch show "$1.rec" >"$1.shown" || return
    TMPDIR=$work "$python" "$here/views.py" "$BIN/foil-data" "$1" "$1.shown" \
        "${@:2}" >"$1.again" || return
    seen=$(<"$1.again") trained=$(jq -s 'map(.images) | max * 2' "$1/metrics.jsonl")
    test "$seen" -ge "$trained"
}

# drawn FILE OPTIONS... : draws a sheet and prints its step
drawn() {
    "$BIN/foil-data" views -o "$@" 2>said || { show said; return 1; }
    sed -nE 's/.*: step ([0-9]+): .*/\1/p' said
}

ok 'a run' whole cifar set.tar --recipe cifar,hue=0,scale-min=0.3 --seed 7
ok 'its views are the same' again cifar

files=(folder/*.jpg)
rm "${files[5]}"
training=(--nonfinite skip)
ok 'a run with fixed views, blur and a missing file' \
    whole fixed folder --recipe imagenet --size 17 --augmentations 3 --max-bad 1
ok 'its views are the same' again fixed
ok 'the missing file was replaced' jq -se 'map(.substituted) | add > 0' \
    fixed/metrics.jsonl
training=()

# A filter adds images from outside the batch.
mkdir -m 700 filtered
"$BIN/foil-negatives" -r filtered --filter --proposals bank,moves=16 \
    2>>filtered.negatives &
filter=$!
train filtered --objective emc2
feed filtered set.tar --filter --size 12
ok 'a run with a filter' ends filtered
kill "$filter"
ok 'its views are the same' again filtered
ok 'its views have the images that the filter added' test "$seen" -gt "$trained"

# has_lines N : the killed run was started N times
has_lines() {
    test "$(wc -l <killed/batches.jsonl)" -eq "$1"
}

# A trainer is killed and resumed twice, the second time from an older checkpoint.
epochs=20 arch=resnet8
mkdir -m 700 killed
train killed --checkpoint-every 20
feed killed set.tar --size 16@0,20@4
ok 'a live run' reaches killed 45
ok 'a sheet of its newest step' drawn newest.png killed
step=$(<"$work/out")
ok 'the sheet of a live run is of a recent step' test "$step" -ge 45
kill_now "$trainer"
ok 'a sheet after a kill' drawn killed.png killed
ok 'the sheet after a kill is of a step after the checkpoint' test "$(<"$work/out")" -ge 45
train killed --checkpoint-every 20 --resume
ok 'the run is resumed' becomes_true has_lines 2
kill_now "$trainer"
saved=(killed/step-*)
rm -r killed/latest "${saved[-1]}"
train killed --resume
ok 'it is resumed from an older checkpoint' ends killed
ok 'its views are the same' again killed
ok 'each start has a line' has_lines 3
ok 'the sheet of the earlier step' drawn now.png --step "$step" killed
ok 'is the same' cmp now.png newest.png

ok 'numpy reads the ids' "$python" -c 'import json, numpy
lines = open("cifar/batches.jsonl").read().splitlines()
line = json.loads(lines[0])
rows = numpy.memmap("cifar/batches.i32", "<i4").reshape(-1, line["width"])
ids = rows[:, 3:3 + line["images"]]
steps = [json.loads(text) for text in open("cifar/metrics.jsonl")]
assert len(lines) == 1 and len(rows) == len(steps)
assert (rows[:, :3] == [[s["total"], s["epoch"], s["step"]] for s in steps]).all()
assert line["view_options"] == {"recipe": "cifar,hue=0,scale-min=0.3", "size": 32,
                          "seed": 7, "views": 2, "augmentations": 0,
                          "data": line["view_options"]["data"]}
first = ids[rows[:, 1] == 0]
assert len(set(first[first >= 0])) == (first >= 0).sum() > 50'

# The path of the data set is relative to this folder.
views=("$BIN/foil-data" views -o again.png)
ok 'a sheet' drawn here.png cifar
ok 'a sheet from another folder' env -C / "$BIN/foil-data" views -o "$work/there.png" \
    "$work/cifar"
ok 'is the same' cmp here.png there.png
mkdir moved
mv set.tar set.tar.foil moved
"$BIN/foil-data" generate --size 24 -o other.tar 61 --seed 2 2>/dev/null
"$BIN/foil-data" index other.tar 2>/dev/null
ok 'without the data set: 1' refuses 1 'if the data set has moved, add --data DATA' \
    "${views[@]}" cifar
ok 'the sheet of a moved data set' drawn again.png --data moved/set.tar cifar
ok 'it is the same' cmp here.png again.png
rm again.png
ok 'another data set: 1' refuses 1 "'other.tar' is not the data set of the run" \
    "${views[@]}" --data other.tar cifar
ok 'the data set as output: 2' refuses 2 'would be overwritten' \
    "$BIN/foil-data" views -o moved/set.tar --data moved/set.tar cifar
ok 'no such step: 1' refuses 1 'no step 500: the newest is' \
    "${views[@]}" --step 500 --data moved/set.tar cifar
ok 'no such run: 1' refuses 1 'batches.i32' "${views[@]}" nowhere
ok 'no output: 2' refuses 2 'name the picture' "$BIN/foil-data" views cifar
ok 'too many pixels: 2' refuses 2 'the picture would have' \
    "${views[@]}" --data moved/set.tar --rows 1000 cifar

# changed RUN FILTER : changes what batches.jsonl has of the augmenter
changed() {
    jq -c "$2" "$1/batches.jsonl" >changed && mv changed "$1/batches.jsonl"
}
changed cifar '.making = .view_options | del(.view_options)'
ok 'a run of foil 1.0' drawn again.png --data moved/set.tar cifar
ok 'has the same views' cmp here.png again.png
rm again.png
changed cifar '.view_options = .making | del(.making) | .view_options.size = 0'
ok 'a size of 0: 1' refuses 1 "'size' is 0" "${views[@]}" cifar
changed cifar '.view_options = {command: true}'
ok 'views of a program: 1' refuses 1 'foil-augment --view-command' \
    "${views[@]}" cifar
changed cifar 'del(.view_options)'
ok 'an augmenter without a recipe: 1' \
    refuses 1 'its augmenter did not send it' "${views[@]}" cifar
rm cifar/batches.*
ok 'a run of an older trainer: 1' refuses 1 'older trainers do not write it' \
    "${views[@]}" cifar
ok 'no output is written' test ! -e again.png
done_testing
