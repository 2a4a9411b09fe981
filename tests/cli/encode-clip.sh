#!/usr/bin/env bash
# foil.encode(text=...): image and text towers in PyTorch have the losses of foil-train's
# own towers.
# Not for sanitizers: programs in Python; encoder.sh and *-command.sh have their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/encoders.sh
. "${0%/*}/../encoders.sh"

foil-data vocabulary -o merges.txt "$data" 2>/dev/null
augment_with=(--size 8 --views 1 --vocabulary merges.txt)
train_with=(--arch linear,hidden=16 --embed 16 --text bow:16 --vocabulary merges.txt
    --objective clip --warmup 0)
# the learning rate is too small to change a weight
ok 'foil-train writes the first weights' trained first --steps 1 --lr 1e-20
train_with+=(--init image=first/latest/model.safetensors
    --init text=first/latest/text.safetensors --optim adamw --lr 1e-3 --steps 8)
# --init does not set the head
towers="towers begin=first vocabulary=$(jq .text.vocabulary first/latest/config.json)"
ok "foil-train trains its own image and text towers" trained ours
ok 'the same towers train in PyTorch' torch theirs "$towers"
ok "towers in PyTorch have the losses of foil-train's own" alike ours theirs
ok 'towers in PyTorch compute row sums' torch sums "$towers sums=1"
ok 'row sums of two towers do not change the losses' alike ours sums
for locked in image text; do
    ok "--freeze $locked: foil-train's own towers train" \
        trained "ours-$locked" --freeze "$locked"
    ok "--freeze $locked: the towers in PyTorch train" \
        torch "theirs-$locked" "$towers" --freeze "$locked"
    ok "--freeze $locked: the losses are the same" alike "ours-$locked" "theirs-$locked"
done
ok 'towers in PyTorch train in micro-batches' torch micro "$towers" --micro-batch 5
ok 'towers in PyTorch in micro-batches have the same losses' alike ours micro
printf '%s\n' circle square >names
for what in '--layer h' '--layer z' --captions '--classes names'; do
    read -ra words <<<"$what theirs"
    [[ $what == --classes* ]] || words+=("$data")
    ok "$what: foil-embed reads a checkpoint of towers in PyTorch" \
        foil-embed -o ours.npy "${words[@]}"
    ok "$what: their program computes the features" \
        foil-embed -o mine.npy --encoder "$program $towers" "${words[@]}"
    ok "$what: both are equal up to rounding" arrays ours.npy mine.npy
done
train_with=(--text program --vocabulary merges.txt --objective external)
ok '--freeze image with a loss that has parameters exits with 1' refuses 1 \
    'freeze: the parameters of the loss' trained locked --freeze image \
    --encoder "${program/encoders.py/siamese.py} encode"
done_testing
