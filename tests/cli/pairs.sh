#!/usr/bin/env bash
# Images with one, three and eight captions, trained by two towers: whichever process is
# killed, and with the chains in the trainer or in a service, the run ends with the
# checkpoint and the metrics of an undisturbed one, bit for bit; so does a recording.
# Not for sanitizers: kills are in faults.sh, captions in clip.sh.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1

ok 'foil-data generate makes images' \
    "$BIN/foil-data" generate --size 12 -o "$work/pics.tar" 64
ok 'foil-data index makes their index' "$BIN/foil-data" index "$work/pics.tar"
# make_captions K : makes a data set of K captions per image, and its vocabulary
make_captions() {
    "$BIN/foil-data" list "$work/pics.tar" | awk -F'\t' -v most="$1" 'NR > 1 {
        for (k = 0; k < most; k++)
            print $7 "\t" k " times " $1 % 7 " of a shape, " (most > 3 ? "often " : "") "seen " $1 % 5 * k
    }' >"$work/$1.tsv"
    "$BIN/foil-data" index -o "$work/$1.foil" --captions "$work/$1.tsv" \
        "$work/pics.tar" &&
        "$BIN/foil-data" vocabulary -o "$work/$1.txt" "$work/$1.foil"
}
for captions in 1 3 8; do
    ok "foil-data index adds $captions captions per image" make_captions "$captions"
done

# Options of foil-train by kind of run (a kind begins with its number of captions), and
# options of its service of negatives, if it has one.
declare -A of_train=(
    [1-state]='--objective isogclr_bimodal'
    [3-state]='--objective isogclr_bimodal'
    [8-state]='--objective sogclr_bimodal --micro-batch 3'
    [3-own]='--objective emc2_bimodal --sampler trainer --proposals ,outside=bank'
    [3-bank]='--objective emc2_bimodal'
    [8-bank]='--objective emc2_bimodal --micro-batch 5'
    [1-shared]='--objective emc2_bimodal'
    [3-shared]='--objective emc2_bimodal'
    [8-shared]='--objective emc2_bimodal --micro-batch 5'
    [3-half]='--objective clip --arch vit:16x1x4 --text clip:16x1 --precision auto --micro-batch 3'
) of_negatives=(
    [3-bank]='--proposals ,outside=bank' [8-bank]='--proposals exact-bank,moves=8'
    [1-shared]='--filter --proposals shared,captions'
    [3-shared]='--filter --proposals shared,captions'
    [8-shared]='--filter --proposals shared,captions,draws=3'
)
all=160 # steps

# Each starts a stage of run KIND.NAME; its messages go to a log there.
train() {
    local towers='--arch linear --text bow:8'
    [[ ${of_train[${1%%.*}]} != *--arch* ]] || towers=
    # shellcheck disable=SC2086
    "$BIN/foil-train" -r "$work/$1" $towers --vocabulary \
        "$work/${1%%-*}.txt" --text ,context=16 --embed 8 --optim adamw --lr 0.003 \
        --warmup 0 --threads 1 --deadline 40 --checkpoint-every 10 \
        ${of_train[${1%%.*}]} "${@:2}" 2>>"$work/$1.train" &
    trainer=$!
}

select_batches() {
    "$BIN/foil-select" -r "$work/$1" -b 8 -e $((all / 8)) \
        "$work/${1%%-*}.foil" 2>>"$work/$1.select" &
    selector=$!
}

augment() {
    local filter=
    [[ ${of_negatives[${1%%.*}]:-} != *--filter* ]] || filter=--filter
    "$BIN/foil-augment" -r "$work/$1" $filter -v 1 --size 8 --vocabulary \
        "$work/${1%%-*}.txt" --context 16 "${@:2}" "$work/${1%%-*}.foil" \
        2>>"$work/$1.augment" &
    augmenter=$!
}

negatives() {
    local how=${of_negatives[${1%%.*}]:-}
    service=
    [[ $how ]] || return 0
    # shellcheck disable=SC2086
    "$BIN/foil-negatives" -r "$work/$1" --method emc2_bimodal $how \
        2>>"$work/$1.negatives" &
    service=$!
}

begin() {
    mkdir -m 700 "$work/$1"
    train "$1"
    negatives "$1"
    augment "$1"
    select_batches "$1"
}

# ends RUN : the trainer exits with 0 after all steps
ends() {
    local code=0
    wait "$trainer" || code=$?
    cat "$work/$1".*
    [[ $code -eq 0 && $(steps "$1") -eq $all ]]
}

calm() {
    begin "$1.calm"
    ends "$1.calm"
}

# One stage after the other is killed, then all; the trainer is resumed.
killed() {
    local run=$1.killed
    begin "$run"
    reaches "$run" 20 && kill_now "$augmenter" && augment "$run" &&
        reaches "$run" 40 || return
    if [[ $service ]]; then
        kill_now "$service" && negatives "$run" && reaches "$run" 60 || return
    fi
    kill_now "$selector" && select_batches "$run" && reaches "$run" 80 &&
        kill_now "$trainer" "$selector" "$augmenter" ${service:+"$service"} || return
    [[ $(steps "$run") -lt $all ]] || return
    train "$run" --resume
    negatives "$run"
    augment "$run"
    select_batches "$run"
    ends "$run"
}

# same KIND NAME : it has the checkpoint and the metrics of the calm run
same() {
    diff -r "$work/$1.calm/latest/" "$work/$1.$2/latest/" &&
        diff <(timeless "$1.calm") <(timeless "$1.$2")
}

# shape KIND COLUMN : prints the shape of a tensor of samples.safetensors
shape() {
    local file=$work/$1.calm/latest/samples.safetensors
    head -c $((8 + $(od -An -tu8 -N8 "$file"))) "$file" | tail -c +9 |
        jq -c ".[\"$2\"].shape"
}

# recorded KIND : a run through a tap, and one from its recording
recorded() {
    local run=$1.taped
    mkdir -m 700 "$work/$run"
    train "$run"
    "$BIN/foil-tap" -q -w "$work/$run.rec" proxy "ipc://$work/$run/tap" \
        "ipc://$work/$run/batch" 2>>"$work/$run.tap" &
    augment "$run" --batches "ipc://$work/$run/tap"
    select_batches "$run"
    ends "$run" || return
    mkdir -m 700 "$work/$1.again"
    "$BIN/foil-tap" -r "$work/$1.again" replay "$work/$run.rec" \
        2>>"$work/$1.again.tap" &
    train "$1.again"
    ends "$1.again"
}

kinds=(1-state 3-state 8-state 3-own 3-bank 8-bank 1-shared 3-shared 8-shared 3-half)
# two kinds at a time
for ((i = 0; i < ${#kinds[@]}; i += 2)); do
    for kind in "${kinds[@]:i:2}"; do
        start_job "$kind-calm" calm "$kind"
        start_job "$kind-killed" killed "$kind"
    done
    for kind in "${kinds[@]:i:2}"; do
        ok "$kind: an undisturbed run trains all steps" job_ok "$kind-calm"
        ok "$kind: a run with killed stages trains all steps" job_ok "$kind-killed"
        ok "$kind: the killed run has the same result" same "$kind" killed
    done
done
ok 'samples have a row for each image and for each of 3 captions' \
    test "$(shape 3-state view0.tau) $(shape 3-state view1.tau)" = '[64] [64,3]'
ok 'samples have a row for the only caption of an image' \
    test "$(shape 1-state view1.tau)" = '[64,1]'
ok 'samples have chains for each image and caption: 64 x (1 + 8)' \
    test "$(shape 8-bank sampler.chain)" = '[576,16]'
ok 'the bank has features of many steps' \
    jq -e '.[0] > 500' <<<"$(shape 8-bank sampler.bank)"
ok '3-bank: chains draw from outside of the batch' jq -es \
    'map(.outside) | max > 0.05' "$work/3-bank.calm/metrics.jsonl"
for kind in 1-shared 8-shared; do
    ok "$kind: captions from outside of the batch count" jq -es \
        'map(.outside) | max > 0.02' "$work/$kind.calm/metrics.jsonl"
done
ok "the trainer's own chains give the weights of the service" \
    diff -r -x config.json -x MANIFEST.json "$work/3-own.calm/latest/" \
    "$work/3-bank.calm/latest/"
# embedded OPTIONS... : foil-embed reads the bfloat16 encoders and gives finite numbers
embedded() {
    "$BIN/foil-embed" -o "$work/half.npy" "$@" "$work/3-half.calm/latest" \
        "$work/3.foil" && "$BIN/foil-eval" geometry "$work/half.npy"
}
if [[ ${kinds[*]} == *3-half* ]]; then
    ok 'foil-embed embeds images by a bfloat16 encoder' embedded --layer z
    ok 'foil-embed embeds captions by a bfloat16 encoder' embedded --captions
fi
start_job recorded recorded 3-state
ok 'a run from a recording trains all steps' job_ok recorded
ok 'a run from a recording has the same result' same 3-state again

# --------------------------------------------- captions of another data set

of_train[3-part]='--objective isogclr_bimodal --steps 40'
begin 3-part.run
wait "$trainer"
kill "$selector" "$augmenter" 2>/dev/null
wait "$selector" "$augmenter" 2>/dev/null

# resumed_by DATA VOCABULARY OPTIONS... : resumes the run with feeders of these
resumed_by() {
    local dir=$work/3-part.run code=0
    "$BIN/foil-select" -r "$dir" -b 8 -e $((all / 8)) "$work/$1.foil" \
        2>"$dir.select" &
    selector=$!
    "$BIN/foil-augment" -r "$dir" -v 1 --size 8 --vocabulary "$work/$2.txt" \
        --context 16 "$work/$1.foil" 2>"$dir.augment" &
    "$BIN/foil-train" -r "$dir" --resume "${@:3}" 2>"$dir.err" || code=$?
    kill "$selector" $! 2>/dev/null
    wait "$selector" $! 2>/dev/null
    cat "$dir.err" >&2
    return "$code"
}

ok 'the run has 40 steps' test "$(steps 3-part.run)" -eq 40
ok '--resume with captions of another data set exits with 1' refuses 1 \
    'has a data set of 64 images.*the checkpoint is of 64' \
    resumed_by 8 8 --deadline 5
ok '--override dataset with another vocabulary exits with 1' refuses 1 \
    "makes tokens by vocabulary [0-9a-f]{8}, this run's is [0-9a-f]{8}: give both" \
    resumed_by 8 8 --override dataset --deadline 5
ok '--override dataset with more captions per sample exits with 1' refuses 1 \
    'samples of up to 8 captions: this run has up to 3' \
    resumed_by 8 3 --override dataset --deadline 9
ok 'the run resumes with its own captions after the refusals' resumed_by 3 3 --steps 60
ok 'the resumed run continues at its step' test "$(steps 3-part.run)" -eq 60
done_testing
