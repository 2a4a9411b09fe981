#!/usr/bin/env bash
# foil.encode(text=...): a tower of images and one of captions have the losses that
# they have with foil-train's own.
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
# nothing moves
ok 'the first weights' trained begun --steps 1 --lr 1e-20
train_with+=(--init image=begun/latest/model.safetensors
    --init text=begun/latest/text.safetensors --optim adamw --lr 1e-3 --steps 8)
# --init has no head
towers="towers begin=begun vocabulary=$(jq .text.vocabulary begun/latest/config.json)"
ok "foil-train's own towers" trained ours
ok 'in PyTorch' torch theirs "$towers"
ok 'the losses are the same' alike ours theirs
for locked in image text; do
    ok "the tower of $locked locked" trained "ours-$locked" --freeze "$locked"
    ok 'in PyTorch' torch "theirs-$locked" "$towers" --freeze "$locked"
    ok 'the losses are the same' alike "ours-$locked" "theirs-$locked"
done
ok 'micro-batches' torch micro "$towers" --micro-batch 5
ok 'have the same' alike ours micro
ok 'foil-embed reads both' foil-embed -o texts.npy --captions theirs "$data"
train_with=(--text program --vocabulary merges.txt --objective own)
ok 'a locked tower of images with a loss that has parameters: 1' refuses 1 \
    'freeze: the parameters of the loss' trained locked --freeze image \
    --encoder "${program/encoders.py/siamese.py} encode"
done_testing
