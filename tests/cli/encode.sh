#!/usr/bin/env bash
# foil.encode(), encoders in PyTorch: objectives have the losses that they have with
# foil-train's own, one of each kind, or all 21 with OBJECTIVES=all, which takes
# three minutes more; what options ask for, and what a program does wrongly.
# Not for sanitizers: programs in Python; encoder.sh and *-command.sh have their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/encoders.sh
. "${0%/*}/../encoders.sh"

mapfile -t objectives < <(foil-train --list objectives |
    jq -r '[.name, .negatives != null, .inside] | @tsv')
# compare ARCH NAME OPTION... : of an objective, with the encoders that ARCH is
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
    ok "$own" trained "$own" "${@:3}"
    ok "$own with an encoder in PyTorch" torch "$own-torch" "$1 begin=begin" "${@:3}"
    ok 'the losses are the same' alike "$own" "$own-torch"
}

linear=("${train_with[@]}") few=' simclr isogclr vicreg siglip emc2 cache '
train_with=(--arch resnet20 --head 32-16 --warmup 0) augment_with=(--size 8)
trained begin --lr 0 --steps 1 2>/dev/null
# small steps: a rounding grows tenfold in each large one
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
ok 'what the program prints is passed on with its name' \
    grep -q 'foil-train: encoder: what a program prints is harmless' \
    linear-simclr-torch.err
for run in linear-simclr resnet20-isogclr; do
    ok "foil-embed reads the checkpoint of $run" \
        foil-embed -o features.npy "$run-torch" "$data"
done

ok 'micro-batches' torch micro linear --micro-batch 5
ok 'have the same losses' alike simclr micro
ok 'products of a large batch' torch products 'linear products=1'
ok 'as well' alike simclr products
ok 'accumulated gradients' trained sums --accumulate 3
ok 'in PyTorch' torch sums-torch linear --accumulate 3
ok 'the same' alike sums sums-torch
ok 'the mean of the weights' trained mean --average-last 0.9
ok 'in PyTorch' torch mean-torch linear --average-last 0.9
ok 'differs by rounding alone' near mean/latest/average.safetensors \
    mean-torch/latest/average.safetensors

ok 'a loss of weighed negatives in PyTorch' torch weighed 'weighed tau=0.3' \
    --objective own-weighed,tau=0.3 --sampler trainer
ok "foil-train's own" trained weighs --objective emc2,tau=0.3 --sampler trainer
ok 'has the same losses' alike weighs weighed
ok 'and the numbers of both' \
    jq -se 'all(.drawn and .accepted and .moved >= 0)' weighed/metrics.jsonl

train_with=(--lr 0.05 --warmup 0)
# in two parts; dropout draws the same, and the groups of parameters keep their ratio
halves() {
    torch halves dropout --steps 3 && torch halves dropout --resume --steps 8
}
ok 'dropout, and an optimiser of its own' torch calm dropout --steps 8
ok 'the same, in two parts' halves
ok 'has the same losses' diff <(timeless calm) <(timeless halves)
ok 'and the same checkpoint' diff -r calm/latest/ halves/latest/

# siamese RUN "KIND NAME=VALUE..." OPTION... : with a loss that has parameters
siamese() {
    trained "$1" --encoder "${program/encoders.py/siamese.py} $2" --objective own \
        --schedule constant "${@:3}" 2>"$1.err" || { cat "$1.err"; return 1; }
}
# as_loop RUN NAME=VALUE... : it has the losses of an ordinary loop, to 1e-5
as_loop() {
    "$python" "${encoders/encoders.py/siamese.py}" loop "data=$data" "run=$1" \
        "${@:2}" >"$1.loop" || return
    jq '.loss // empty' "$1/metrics.jsonl" >"$1.losses"
    jq -ens --slurpfile a "$1.loop" --slurpfile b "$1.losses" \
        '($a | length) >= 11 and ($a | length) == ($b | length) and
        all(range($a | length); $a[.] - $b[.] | fabs <= 1e-5)' ||
        { paste "$1.loop" "$1.losses"; return 1; }
}
ok 'a loss with parameters of its own' siamese own encode
ok 'is that of an ordinary loop' as_loop own
ok 'one that is once no number' siamese once 'encode nan=5' --nonfinite skip
ok 'is that of a loop without that step: nothing in it has moved' as_loop once nan=5
ok 'an optimiser of what no checkpoint has: 1' refuses 1 \
    'parameter \[8x16\] that is in no module of encode' trained foreign \
    --encoder "${program/encoders.py/siamese.py} foreign" --objective own

# bad KIND SENTENCE OPTION...
bad() {
    refuses 1 "$2" trained bad --encoder "$program $1" "${@:3}"
}
ok 'tensors that --arch does not have: 1' bad linear "no tensor 'conv1" --arch resnet8
ok 'an optimiser that PyTorch does not have: 1' bad linear 'lars.*: give encode' \
    --optim lars
for objective in own own-weighed; do
    ok 'a loss that it does not have: 1' bad linear 'need encode\(loss' \
        --objective "$objective"
done
done_testing
