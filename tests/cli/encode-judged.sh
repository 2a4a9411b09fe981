#!/usr/bin/env bash
# An encoder of one's own is evaluated: foil-embed starts the program of the checkpoint,
# and so do TEST of a pipeline, the comparison at its end and foil eval follow.
# Mostly waits, 20 s
# Not for sanitizers: programs in Python; encoder.sh and encoder-faults.sh have foil-embed.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/encoders.sh
. "${0%/*}/../encoders.sh"
foil-data split --share 0.5 "$data" train.foil test.foil 2>/dev/null

own="[ ! -e away ] || exit 4; $program head"
# about FILE EXPRESSION : of the origin of features
about() {
    jq -e "$2" "${1%.npy}.json"
}

# ------------------------------------------------- a pipeline, killed and resumed
# piped RUN OPTION... : trains and evaluates by TEST
piped() {
    foil run simclr train.foil test.foil -r "$1" --size 8 --batch 8 --epochs 30 \
        --augmenters 1 --threads 1 --encoder "$own" \
        --train '--checkpoint-every 50 --keep 9' "${@:2}" >>"$1.err" 2>&1 ||
        { cat "$1.err"; return 1; }
}
# unused RUN : no process has it
unused() {
    ! pgrep -f -- "-r $1 " >/dev/null
}
killed() {
    piped killed &
    trainer=$!
    reaches killed 15 || { cat killed.err; return 1; }
    pkill -KILL -P "$trainer" foil-run
    wait "$trainer"
    becomes_true unused killed && piped killed --resume
}
figures() {
    jq -c '[.measure, .k, .step, .d, .accuracy, .test.made.layer]' "$1/results.jsonl"
}
ok 'a pipeline with an encoder of its own and TEST succeeds' piped calm
ok 'TEST is evaluated by features from before the head' test "$(figures calm |
    jq -r '"\(.[0]) \(.[3]) \(.[5])"' | sort -u | xargs)" = 'knn 16 h probe 16 h'
ok 'the run is compared with raw pixels and the untrained encoder' jq -e \
    '[.pixels, .untrained, .trained] | all(.["1-NN"] >= 0)' calm/table.json
ok 'the comparison draws near.png' grep -q PNG calm/near.png
ok 'a pipeline that is killed and resumed succeeds' killed
ok 'the resumed pipeline has the same figures' diff <(figures calm) <(figures killed)

# ------------------------------------------------------------------------- follow
follow() {
    foil-eval follow -r calm --once train.foil test.foil >follow.jsonl
}
ok 'follow evaluates the other checkpoints' follow
ok 'follow prints a line for each of these' \
    test "$(jq .step follow.jsonl | xargs)" = '50 100'
best=$(jq -s 'map(select(.measure == "knn" and .k == 10)) |
    max_by([.accuracy, -.step]).step' calm/results.jsonl)
ok 'best is the checkpoint with the highest accuracy' \
    test "$(readlink calm/best)" = "$(printf 'step-%08d' "$best")"
ok 'best makes features' foil-embed -o best.npy calm/best test.foil
ok 'neighbours of these features are found' foil-eval neighbours -k 3 best.npy

# ---------------------------------------------------------------------- foil-embed
embed() {
    foil-embed -o "$1.npy" calm test.foil "${@:2}"
}
ok 'the features are made without an option' embed h
ok 'their origin has command and layer' about h '.layer == "h" and
    (.encoder.command | endswith("head")) and .encoder.untrained == false'
ok 'they are those of the pipeline' arrays h.npy calm/embedded/test.npy
ok '--layer z makes embeddings' embed z --layer z
ok 'these have the width of the head' /usr/bin/python3 -c \
    'import numpy; assert numpy.load("z.npy").shape == (32, 8)'
ok 'the same by one image at a time' embed one --batch 1
ok 'a batch of one changes no feature' arrays h.npy one.npy
ok '--untrained takes the weights with which the program starts' embed start --untrained
ok 'these are others' exits 1 arrays h.npy start.npy
ok 'views of a recipe are embedded' embed view --recipe cifar --view 1
ok '--view without --recipe exits with 2' refuses 2 'add --recipe' embed no --view 1
ok 'a run without --average-last has no mean' refuses 1 'no mean of weights' \
    embed no --average
ok '--encoder with --raw exits with 2' refuses 2 'goes without --raw' \
    foil-embed -o no.npy --raw --encoder true test.foil
for option in --onnx --export; do
    ok "$option exits with 1 and names torch.save" refuses 1 'exports it, as by torch.save' \
        foil-embed "$option" no.safetensors calm
done
ok 'a program with other tensors exits with 1' refuses 1 "tensor '0.fc.weight' is missing" \
    embed no --encoder "$program head wide=1"
touch away
ok 'a program that has gone exits with 1' refuses 1 \
    "ended with code 4 before it answered \(the command is the checkpoint's; --encoder" \
    embed no
ok '--encoder gives another command' embed again --encoder "$program head"
ok 'it makes the same features' cmp h.npy again.npy
rm away
cp -r calm/latest/ theirs
if chown nobody theirs/config.json 2>/dev/null; then
    ok "a command of another user's checkpoint is not started" refuses 1 \
        "is another user's, so its command .* is not started: give a command by" \
        foil-embed -o no.npy theirs test.foil
else
    skip "a checkpoint of another user" 'only root can make one'
fi
ok 'no file is left of what was refused' test ! -e no.npy

# --------------------------------------------------- an encoder with tensors of --arch
ok 'an encoder with the tensors of --arch trains' torch mean linear --average-last 0.9
for option in '' --average; do
    ok "foil computes it ${option:-without an option}" \
        foil-embed -o ours.npy mean "$data" $option
    ok "its program computes it ${option:-without an option}" \
        foil-embed -o mine.npy mean "$data" $option --encoder "$program linear"
    ok "both make the same features ${option:-without an option}" arrays ours.npy mine.npy
done
done_testing
