#!/usr/bin/env bash
# foil.encode(), encoders in PyTorch: objectives have the losses of foil-train's own
# encoder, one objective of each kind, or all 21 with OBJECTIVES=all (three minutes more);
# further options; and errors of programs.
# Not for sanitizers: programs in Python; encoder.sh and *-command.sh have their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/encoders.sh
. "${0%/*}/../encoders.sh"

mapfile -t objectives < <(foil-train --list objectives |
    jq -r '[.name, .negatives != null, .inside] | @tsv')
# compare ARCH NAME OPTION... : objective NAME with both encoders of architecture ARCH
services=()
compare() {
    local own=$1-$2 run
    if [[ $filtered == true ]]; then
        augment_with+=(--filter)
        for run in "$own" "$own-torch"; do
            mkdir -m 700 "$run"
            foil-negatives -r "$run" --filter --method "$2" 2>"$run.negatives" &
            services+=($!)
        done
    fi
    ok "$own: foil-train's own encoder trains" trained "$own" "${@:3}"
    ok "$own: an encoder in PyTorch trains" torch "$own-torch" "$1 begin=begin" "${@:3}"
    ok "$own: both encoders have the same losses" alike "$own" "$own-torch"
}

linear=("${train_with[@]}") few=' simclr isogclr vicreg siglip emc2 cache '
train_with=(--arch resnet20 --head 32-16 --warmup 0) augment_with=(--size 8)
trained begin --lr 0 --steps 1 2>/dev/null
# a low learning rate: with a high one, rounding errors grow tenfold in each step
train_with+=(--init begin/latest/model.safetensors --lr 2e-6 --steps 8)
resnet20=("${train_with[@]}")
for objective in "${objectives[@]}"; do
    read -r name negatives inside <<<"$objective"
    [[ ${OBJECTIVES-} == all || $few == *" $name "* ]] || continue
    options=(--objective "$name") filtered=false
    if [[ $negatives-$inside == true-true ]]; then
        options+=(--sampler trainer)
    elif [[ $negatives == true ]]; then # from outside of the batch
        filtered=true
    fi
    train_with=("${linear[@]}") augment_with=(--size 8)
    compare linear "$name" "${options[@]}"
    train_with=("${resnet20[@]}") augment_with=(--size 8)
    [[ ${OBJECTIVES-} != all && $name != isogclr ]] ||
        compare resnet20 "$name" "${options[@]}"
done
train_with=("${linear[@]}") augment_with=(--size 8)
[[ ${#services[@]} -eq 0 ]] || kill "${services[@]}" 2>/dev/null
ok 'foil-train prints the output of the program with its name' \
    grep -q 'foil-train: encoder: what a program prints is harmless' \
    linear-simclr-torch.err
for run in linear-simclr resnet20-isogclr; do
    ok "foil-embed reads the checkpoint of $run" \
        foil-embed -o features.npy "$run-torch" "$data"
done

ok 'an encoder in PyTorch trains in micro-batches' torch micro linear --micro-batch 5
ok 'micro-batches do not change the losses' alike simclr micro
for name in simclr dcl infonce clip sogclr isogclr sogclr_bimodal isogclr_bimodal; do
    [[ ${OBJECTIVES-} == all || ' dcl isogclr isogclr_bimodal ' == *" $name "* ]] || continue
    ok "$name: foil-train computes row sums" trained "rows-$name" --objective "$name"
    ok "$name: an encoder in PyTorch computes row sums" \
        torch "sums-$name" 'linear sums=1' --objective "$name"
    ok "$name: row sums have the same metrics" same_metrics "rows-$name" "sums-$name"
done
# the device decides about an update: batch norm, and the state of the optimiser
train_with=("${resnet20[@]}" --optim adamw --nonfinite skip)
for kind in '' ' sums=1'; do
    ok "a gradient that is not finite is skipped$kind" \
        torch "nan$kind" "resnet20 begin=begin nan=1$kind"
    ok "it is in nonfinite.jsonl$kind" grep -q gradient "nan$kind/nonfinite.jsonl"
done
ok 'row sums skip the same' same_metrics nan 'nan sums=1'
ok 'weights and statistics are the same' \
    near nan/latest/model.safetensors 'nan sums=1/latest/model.safetensors'
train_with=("${linear[@]}")
ok "--accumulate trains foil-train's own encoder" trained sums --accumulate 3
ok '--accumulate trains an encoder in PyTorch' torch sums-torch linear --accumulate 3
ok '--accumulate gives both encoders the same losses' alike sums sums-torch
ok "--average-last trains foil-train's own encoder" trained mean --average-last 0.9
ok '--average-last trains an encoder in PyTorch' \
    torch mean-torch linear --average-last 0.9
ok '--average-last of both encoders differs by rounding only' \
    near mean/latest/average.safetensors \
    mean-torch/latest/average.safetensors

ok 'a loss with weighted negatives in PyTorch trains' torch weighed 'weighed tau=0.3' \
    --objective external-weighed,tau=0.3 --sampler trainer
ok "the same loss of foil-train trains" \
    trained weighs --objective emc2,tau=0.3 --sampler trainer
ok 'a loss with weighted negatives in PyTorch has the same values' alike weighs weighed
ok 'metrics of weighted negatives have values of loss and sampler' \
    jq -se 'all(.drawn and .accepted and .moved >= 0)' weighed/metrics.jsonl

train_with=(--lr 0.05 --warmup 0)
# in two parts; dropout draws the same numbers, and the parameter groups keep their ratio
halves() {
    torch halves dropout --steps 3 && torch halves dropout --resume --steps 8
}
ok 'an encoder with dropout and its own optimiser trains' torch calm dropout --steps 8
ok 'an encoder with dropout trains in two parts' halves
ok 'an encoder with dropout has the same losses in two parts' \
    diff <(timeless calm) <(timeless halves)
ok 'an encoder with dropout has the same checkpoint in two parts' \
    diff -r calm/latest/ halves/latest/

# siamese RUN "KIND NAME=VALUE..." OPTION... : trains with a loss that has parameters
siamese() {
    trained "$1" --encoder "${program/encoders.py/siamese.py} $2" --objective external \
        --schedule constant "${@:3}" 2>"$1.err" || { cat "$1.err"; return 1; }
}
# as_loop RUN NAME=VALUE... : the run has the losses of an ordinary loop, within 1e-5
as_loop() {
    "$python" "${encoders/encoders.py/siamese.py}" loop "data=$data" "run=$1" \
        "${@:2}" >"$1.loop" || return
    jq '.loss // empty' "$1/metrics.jsonl" >"$1.losses"
    jq -ens --slurpfile a "$1.loop" --slurpfile b "$1.losses" \
        '($a | length) >= 11 and ($a | length) == ($b | length) and
        all(range($a | length); $a[.] - $b[.] | fabs <= 1e-5)' ||
        { paste "$1.loop" "$1.losses"; return 1; }
}
ok 'a loss with its own parameters trains' siamese own encode
ok 'a loss with its own parameters has the values of an ordinary loop' as_loop own
ok 'foil-embed starts a program that also has a loss' foil-embed -o own.npy own "$data"
# a run begun by an older version
older_halves() {
    siamese older encode --steps 5 && /usr/bin/python3 "${encoders%/*}/../older.py" older \
        external=own steps_without_service=alone &&
        grep -q '"objective": "own"' older/latest/config.json &&
        siamese older encode --resume --steps "$(wc -l <own/metrics.jsonl)"
}
ok 'a run of an older version is resumed' older_halves
ok 'the resumed run has the losses of an undisturbed one' \
    diff <(jq .loss own/metrics.jsonl) <(jq .loss older/metrics.jsonl)
ok 'its next checkpoint has the new names' jq -e '.options.objective == "external" and
    .state.steps_without_service == 0 and (.state | has("alone") | not)' \
    older/latest/config.json
ok '--resume of the run accepts the old name of the objective' eval "
    trained older --encoder \"\${program/encoders.py/siamese.py} encode\" \
    --objective own --resume >again 2>&1"
ok '--resume prints the new name of the objective' grep -q \
    '^foil-train: --objective own is now --objective external; 1.1 drops' again
ok '--nonfinite skip skips a step with a loss of nan' \
    siamese once 'encode nan=5' --nonfinite skip
ok 'a skipped step changes no state' as_loop once nan=5
ok 'an optimiser of a parameter that is in no checkpoint exits with 1' refuses 1 \
    'parameter \[8x16\] that is in no module of encode' trained foreign \
    --encoder "${program/encoders.py/siamese.py} foreign" --objective external

# bad KIND SENTENCE OPTION... : that encoder is refused with that sentence
bad() {
    refuses 1 "$2" trained bad --encoder "$program $1" "${@:3}"
}
ok 'an encoder without the tensors of --arch exits with 1' \
    bad linear "no tensor 'conv1" --arch resnet8
ok 'an optimiser that PyTorch does not have exits with 1' \
    bad linear 'lars.*: give encode' \
    --optim lars
for objective in external external-weighed; do
    ok "--objective $objective without a loss in the encoder exits with 1" \
        bad linear 'need encode\(loss' \
        --objective "$objective"
done
done_testing
