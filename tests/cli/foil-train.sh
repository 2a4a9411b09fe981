#!/bin/bash
# foil-train as its users meet it, with a stage in Python that brings batches.
# Mostly waits, 30 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

augmenter=$(cd "${0%/*}" && pwd)/augmenter.py
linear=(--arch linear --head 8 --lr 0.05 --threads 1)
small=("${linear[@]}")

# with DIR KEY=VALUE... -- OPTIONS : a trainer and its augmenter; the trainer's exit
# code
with() {
    local dir=$1 words=() code=0
    shift
    while [[ $1 != -- ]]; do
        words+=("$1")
        shift
    done
    shift
    "$python" "$augmenter" "ipc://$dir/batch" "${words[@]}" >"$dir.augmenter" 2>&1 &
    "$BIN/foil-train" -r "$dir" "${small[@]}" "$@" 2>"$dir.err" || code=$?
    cat "$dir.err" >&2
    [[ $code -eq 0 ]] || kill $! 2>/dev/null
    wait $!
    return "$code"
}

# what became of one that was begun: what it said, and its exit code
again() {
    local code=0
    wait "${doing[$1]}" || code=$?
    cat "$work/$1.said" >&2
    return "$code"
}

same_metrics() {
    diff <(timeless "$1") <(timeless "$2")
}

common foil-train -r "$work/none"
ok 'no run directory: 2' refuses 2 '-r is missing' "$BIN/foil-train"
ok 'tau 0: 2' refuses 2 "tau '0'" "$BIN/foil-train" -r x --objective ,tau=0
ok 'unknown objective: 2' refuses 2 "no objective 'simclear'" \
    "$BIN/foil-train" -r x --objective simclear
ok 'a parameter of another objective: 2' refuses 2 \
    "simclr has no parameter 'rho': it has tau" \
    "$BIN/foil-train" -r x --objective ,rho=0.3
ok 'behind another name: 2' refuses 2 \
    "hcl has no parameter 'rho': it has tau, beta" \
    "$BIN/foil-train" -r x --objective hcl,beta=0.7,rho=0.3
ok 'no parameter at all: 2' refuses 2 "--objective has no parameter 'lr'" \
    "$BIN/foil-train" -r x --objective hcl,lr=0.1
ok 'a running mean without bound: 2' refuses 2 'grows without bound' \
    "$BIN/foil-train" -r x --objective sogclr,gamma=0.5 --compat reference
ok 'chains of its own that it cannot have: 2' refuses 2 \
    'cache needs foil-negatives' "$BIN/foil-train" -r x --objective cache \
    --sampler trainer
ok '--list objectives: a line of JSON each' "$BIN/foil-train" --list objectives
ok 'with what each needs' jq -es 'map(select(.name == "emc2"))[0] |
    .negatives == "emc2" and .inside and .defaults == {tau: 0.5}' "$work/out"
ok 'unknown encoder: 2' refuses 2 "no encoder 'resnet1'" \
    "$BIN/foil-train" -r x --arch resnet1
ok 'bad head: 2' refuses 2 'head' "$BIN/foil-train" -r x --head 12-x
ok 'bad schedule: 2' refuses 2 'schedule' \
    "$BIN/foil-train" -r x --schedule cosines
ok 'no end of the temperature: 2' refuses 2 'needs tau-end' \
    "$BIN/foil-train" -r x --objective simclr,tau-schedule=cosine
ok 'an end without a way: 2' refuses 2 'needs a tau-schedule' \
    "$BIN/foil-train" -r x --objective simclr,tau-end=1
ok 'temperatures that are learnt: 2' refuses 2 'learns its temperatures' \
    "$BIN/foil-train" -r x --objective isogclr,tau-schedule=cosine,tau-end=1
ok 'no running mean: 2' refuses 2 "simclr has no parameter 'gamma-schedule'" \
    "$BIN/foil-train" -r x --objective simclr,gamma-schedule=cosine
ok 'steps of a temperature: 2' refuses 2 'step is for the learning rate' \
    "$BIN/foil-train" -r x --objective simclr,tau-schedule=step:3,tau-end=1
ok 'bad mean: 2' refuses 2 "--mean '1,2'" "$BIN/foil-train" -r x --mean 1,2
ok 'Nesterov with adam: 2' refuses 2 Nesterov \
    "$BIN/foil-train" -r x --optim adam,nesterov
ok 'override of nothing: 2' refuses 2 'no checkpoint remembers' \
    "$BIN/foil-train" -r x --override speed
ok 'half the keys: 2' refuses 2 'go together' \
    "$BIN/foil-train" -r x --keys y
ok 'no place for the run: 1' refuses 1 'cannot make folder' \
    "$BIN/foil-train" -r /dev/null/x "${small[@]}"
ok 'nobody comes: 1' refuses 1 'no batch for epoch 0, step 0 in 1 seconds' \
    "$BIN/foil-train" -r "$work/alone" "${small[@]}" --deadline 1

if ! has_python msgpack zmq; then
    skip 'runs' 'no python3-zmq, python3-msgpack'
    done_testing
fi

warm zmq msgpack random
ok 'a whole run' with "$work/a" -- --checkpoint-every 3
ok 'the augmenter was told of its end' grep -qx end "$work/a.augmenter"
# the number NAME of the summary is that of the last line of the metrics
summary() {
    local said
    said=$(grep -oP "(?<= $2 )[-0-9.]+(?=[; ])" "$1.err" | tail -n 1)
    test "$said" = "$(tail -n 1 "$1/metrics.jsonl" |
        jq ".$2" | xargs printf '%.4f')"
}
ok 'a summary' grep -q \
    "8 steps, 64 images .*; saved in '$work/a/latest'\$" "$work/a.err"
# at_width COLUMNS : the same run on a terminal of that width; what it drew is in
# $work/drawn, a line for each time
at_width() {
    local dir=$work/wide$1
    "$python" "$augmenter" "ipc://$dir/batch" >"$dir.augmenter" 2>&1 &
    "$python" "${0%/*}/terminal.py" "$1" 24 -- "$BIN/foil-train" \
        -r "$dir" "${small[@]}" >"$work/terminal" || return
    tr '\r' '\n' <"$work/terminal" | sed -n 's/^\x1b\[K//p' |
        grep -v '^foil-train: ' >"$work/drawn"
    cat "$work/drawn"
    awk -v most="$1" 'length >= most { bad = 1 } END { exit bad || !NR }' \
        "$work/drawn"
}
ok 'no line of progress is wider than 60 columns' at_width 60
ok 'it has step, epoch and loss' grep -qE \
    '^[1-8]/8 steps  epoch [12]/2  loss [0-9.]+' "$work/drawn"
ok 'nor wider than 200' at_width 200
ok 'one line of metrics a step' test "$(wc -l <"$work/a/metrics.jsonl")" -eq 8
ok 'steps in the order of the plan' \
    test "$(jq -r '"\(.epoch):\(.step)"' "$work/a/metrics.jsonl" | xargs)" = \
    '0:0 0:1 0:2 0:3 1:0 1:1 1:2 1:3'
ok 'two checkpoints are kept' \
    test "$(cd "$work/a" && echo step-*)" = 'step-00000006 step-00000008'
ok 'latest is the newest' \
    test "$(readlink "$work/a/latest")" = step-00000008
ok 'used already: 1' refuses 1 'holds a run: --resume' \
    "$BIN/foil-train" -r "$work/a"
ok 'a second run gives the same' with "$work/b" -- --checkpoint-every 0
ok 'to the bit' diff -r "$work/a/latest/" "$work/b/latest/"
ok 'and the same metrics' same_metrics a b

ok 'stops after --steps' with "$work/c" -- --steps 5
ok 'nothing left to do: 0' exits 0 \
    "$BIN/foil-train" -r "$work/c" --resume --steps 5
ok 'is said' grep -q 'nothing is left to do after 5 steps' "$work/out"
ahead=$(($(date +%s) + 3600))000000007
echo "$ahead" >"$work/c/session"
ok 'and again, by a clock that was set back an hour' exits 0 \
    "$BIN/foil-train" -r "$work/c" --resume --steps 5
ok 'in the session behind' grep -qx "$((ahead + 1))" "$work/c/session"
ok 'another tau: 1' refuses 1 '--objective: tau is 0.2, but 0.5 in the checkpoint' \
    "$BIN/foil-train" -r "$work/c" --resume --objective ,tau=0.2
cp -r "$work/c" "$work/d"
cp -r "$work/c" "$work/e"
cp -r "$work/c" "$work/f"
cp -r "$work/c" "$work/moved"
rm "$work"/moved/{metrics.jsonl,batches.*}
small=(--resume)
ok 'goes on from there' with "$work/c" --
ok 'goes on from there, to the same bits' diff -r "$work/a/latest/" "$work/c/latest/"
ok 'and the same metrics' same_metrics a c
ok 'goes on where its metrics and batches are moved away' with "$work/moved" --
ok 'to the same bits' diff -r "$work/a/latest/" "$work/moved/latest/"
ok 'with the metrics of its own steps' \
    diff <(timeless a | tail -n 3) <(timeless moved)
ok 'and rows for them' jq -e '.first == 6 and .offset == 0' "$work/moved/batches.jsonl"
ok 'another tau on request' with "$work/d" -- --objective simclr,tau=0.2 --override tau
ok 'is remembered' jq -e '.options.tau == 0.2' "$work/d/latest/config.json"
ok 'another data set: 1' refuses 1 'digest cdcdcdcd; the checkpoint is of' \
    with "$work/e" "digest=$(printf 'cd%.0s' {1..16})" -- --deadline 5
ok 'another data set on request' with "$work/e" \
    "digest=$(printf 'cd%.0s' {1..16})" -- --override dataset
printf 'x' | dd of="$work/f/latest/optim.safetensors" bs=1 seek=99 conv=notrunc \
    2>/dev/null
ok 'a damaged checkpoint: 1' refuses 1 "optim.safetensors' is damaged" \
    "$BIN/foil-train" -r "$work/f" --resume
rm -r "$work"/f/step-*
ok 'none yet: anew' with "$work/f" -- "${linear[@]}"
small=("${linear[@]}")

ok 'a divergence that 14 negatives cannot have: 1' \
    refuses 1 'rho 3: no softmax over 14 negatives' \
    with "$work/wide" -- --objective isogclr,rho=3
ok 'one that they can' with "$work/near" -- --objective isogclr
ok 'the metrics have it, and the temperatures' \
    jq -se 'length == 8 and all(.kl > 0 and .tau_min < .tau_max and
    ([.tau_min, .tau_25, .tau_50, .tau_75, .tau_max] | . == sort))' \
    "$work/near/metrics.jsonl"

# it ends at its deadline, by which all has to be said, however busy the machine is
begun h with "$work/h" images=1 -- --deadline 9
ok 'a substitute' with "$work/g" replaced=1:2 --
ok 'is counted' grep -q '1 image replaced' "$work/g.err"
ok 'no negatives service: 1' refuses 1 'negatives' \
    with "$work/n" -- --objective emc2 --deadline 5
ok 'an objective whose loss is not InfoNCE' with "$work/dcl" -- --objective dcl
ok 'the summary has its loss' summary "$work/dcl" loss
ok 'and InfoNCE beside it' summary "$work/dcl" infonce
ok 'in-batch negatives instead' with "$work/o" -- --objective emc2 \
    --policy in-batch
ok 'each such step is marked' \
    test "$(jq -s 'map(.alone) | add' "$work/o/metrics.jsonl")" -eq 8
ok 'and counted' grep -q '8 without the negatives service' "$work/o.err"
ok 'other images are sent away: 1' refuses 1 'given up' again h
ok 'with a sentence' grep -q 'want at least 2 images' "$work/h.augmenter"

small=(--arch table,hidden=5 --lr 0.5 --optim sgd,momentum=0 --weight-decay 0
    --threads 1)
ok 'a table of free rows' with "$work/p" --
ok 'has one for each view of each image' \
    grep -qa '"table.weight":{"dtype":"F32","shape":\[64,2,5\]' \
    "$work/p/latest/model.safetensors"
ok 'and no head' test ! -e "$work/p/latest/head.safetensors"
ok 'it stops' with "$work/q" -- --steps 5
small=(--resume)
ok 'and goes on' with "$work/q" --
ok 'and goes on, to the same bits' diff -r "$work/p/latest/" "$work/q/latest/"
ok 'a data set of as many images' \
    "$BIN/foil-data" generate --size 8 -o "$work/set.tar" 64
"$BIN/foil-data" index "$work/set.tar"
ok 'its rows are features' "$BIN/foil-embed" -o "$work/u.npy" "$work/p" \
    "$work/set.tar"
ok 'of each view' "$BIN/foil-embed" -o "$work/v.npy" --view 1 "$work/p" \
    "$work/set.tar"
ok 'which differ' exits 1 cmp -s "$work/u.npy" "$work/v.npy"
ok 'and no other' refuses 1 'table of 2 views' "$BIN/foil-embed" \
    -o "$work/w.npy" --view 2 "$work/p" "$work/set.tar"
"$BIN/foil-data" generate --size 8 -o "$work/more.tar" 65
"$BIN/foil-data" index "$work/more.tar"
ok 'of no other data set' refuses 1 'table of 64 images, the data set has 65' \
    "$BIN/foil-embed" -o "$work/w.npy" "$work/p" "$work/more.tar"

# basis FILE ROWS WIDTH : an array of f4 whose numbers are not all alike
basis() {
    "$python" - "$@" <<'END'
import struct, sys
rows, width = map(int, sys.argv[2:])
head = str({"descr": "<f4", "fortran_order": False, "shape": (rows, width)})
head = head.ljust(117) + "\n"
with open(sys.argv[1], "wb") as out:
    out.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode())
    for i in range(rows * width):
        out.write(struct.pack("<f", i * 7919 % 101 / 101 - 0.5))
END
}

basis "$work/basis.npy" 5 192
basis "$work/other.npy" 5 191
small=(--arch linear,hidden=6 --head none --lr 0.05 --threads 1)
ok 'a fixed basis' with "$work/r" -- --arch ",basis=$work/basis.npy"
ok 'is in the checkpoint' grep -qa '"basis.weight":{"dtype":"F32","shape":\[4,192' \
    "$work/r/latest/model.safetensors"
ok 'it stops' with "$work/s" -- --arch ",basis=$work/basis.npy" --steps 5
rm "$work/basis.npy"
small=(--resume)
ok 'and goes on without the file' with "$work/s" --
ok 'and goes on without the file, to the same bits' diff -r "$work/r/latest/" "$work/s/latest/"
small=(--arch linear --head none)
ok 'a basis of other images: 1' refuses 1 'for images of 191 numbers' \
    with "$work/t" -- --arch ",basis=$work/other.npy"
ok 'no such basis: 1' refuses 1 'basis.npy' \
    "$BIN/foil-train" -r "$work/t" "${small[@]}" --arch ",basis=$work/basis.npy"
ok 'of another encoder: 2' refuses 2 'not for mlp' \
    "$BIN/foil-train" -r x --arch mlp,basis=x
ok 'with a mean: 2' refuses 2 '--mean and --deviation have no effect' \
    "$BIN/foil-train" -r x --arch linear,basis=x --mean 0,0,0

basis "$work/rows.npy" 128 5
small=(--arch table,hidden=5 --lr 0 --weight-decay 0 --threads 1)
ok 'a table begins with rows of a file' with "$work/rows" -- \
    --arch ",rows=$work/rows.npy"
ok 'as they are' cmp <(tail -c 2560 "$work/rows.npy") \
    <(tail -c 2560 "$work/rows/latest/model.safetensors")
ok 'rows that do not fit: 1' refuses 1 'want finite f4 \[128,5\]' \
    with "$work/unfit" -- --arch ",rows=$work/other.npy"
ok 'rows of another encoder: 2' refuses 2 'not for mlp' \
    "$BIN/foil-train" -r x --arch mlp,rows=x
small=(--arch rows,hidden=3 --head none --lr 0.05 --threads 1)
ok 'a layer sees rows of a file' with "$work/looked" -- \
    --arch ",rows=$work/rows.npy"
ok 'which the checkpoint has' cmp <(tail -c 2560 "$work/rows.npy") \
    <(tail -c 2632 "$work/looked/latest/model.safetensors" | head -c 2560)
ok 'it stops' with "$work/looks" -- --arch ",rows=$work/rows.npy" --steps 5
small=(--resume)
ok 'and goes on without the file' with "$work/looks" --
ok 'to the same bits' diff -r "$work/looked/latest/" "$work/looks/latest/"
ok 'features of them' "$BIN/foil-embed" -o "$work/u.npy" "$work/looked" \
    "$work/set.tar"
small=(--arch rows --head none)
ok 'as many as there are views: 1' refuses 1 'want finite f4 \[128,191\]' \
    with "$work/unfit" -- --arch ",rows=$work/other.npy"
ok 'no rows: 2' refuses 2 'needs rows,rows=FILE' "$BIN/foil-train" -r x --arch rows
ok 'a basis of rows: 2' refuses 2 'does not see' "$BIN/foil-train" -r x \
    --arch rows,rows=x,basis=y
own=(-r x --objective emc2)
ok 'proposals of the service: 2' refuses 2 'is for --sampler trainer' \
    "$BIN/foil-train" "${own[@]}" --proposals once
ok 'proposals of no chain: 2' refuses 2 'not for simclr' \
    "$BIN/foil-train" -r x --proposals ,moves=3
ok 'proposals that are not there: 2' refuses 2 'an encoder of rows' \
    "$BIN/foil-train" "${own[@]}" --sampler trainer --proposals bank
ok 'stale ones: 2' refuses 2 'an encoder of rows' \
    "$BIN/foil-train" "${own[@]}" --sampler trainer --arch table --proposals exact,scores=stale
ok 'an exact draw has no burn-in: 2' refuses 2 "exact of emc2 has no parameter 'burn-in'" \
    "$BIN/foil-train" "${own[@]}" --sampler trainer --arch table \
    --proposals exact,burn-in=1
ok 'a parameter that it does not have: 2' refuses 2 "no parameter 'moves'" \
    "$BIN/foil-train" "${own[@]}" --sampler trainer --proposals once,moves=3
ok 'across the views there is one kind: 2' refuses 2 \
    'emc2_bimodal has no --proposals row: there are once bank exact exact-bank' \
    "$BIN/foil-train" -r x --objective emc2_bimodal --sampler trainer \
    --proposals row

small=(--arch vit:16x1x4 --head project:4 --lr 0 --threads 1)
ok 'a vision transformer' with "$work/vit" --
first=$work/vit/latest/model.safetensors
cp "$first" "$work/other.safetensors"
ok 'another begins with its weights' with "$work/init" -- -s 2 \
    --init "$work/other.safetensors"
ok 'as they are' cmp "$first" "$work/init/latest/model.safetensors"
ok 'which is said' grep -q "images starts with '$work/other.safetensors'\$" \
    "$work/init.err"
ok 'but for the head, which is random' exits 1 cmp \
    "$work/vit/latest/head.safetensors" "$work/init/latest/head.safetensors"
ok 'and is remembered' jq -e '.options.init | length == 1' \
    "$work/init/latest/config.json"
rm "$work/other.safetensors"
ok 'a resumed run does not look at the file' "$BIN/foil-train" -r "$work/init" \
    "${small[@]}" -s 2 --resume --steps 8
small=(--head project:4 --threads 1)
ok 'another form: 1' refuses 1 "conv_proj.weight' is \[16,3,4,4\], the encoder" \
    with "$work/deep" -- --arch vit:16x1x2 --init "image=$first"
ok 'another depth: 1' refuses 1 'encoder_layer_1.ln_1.weight.* is missing' \
    with "$work/deep" -- --arch vit:16x2x4 --init "image=$first"
ok 'no such file: 1' refuses 1 "there is no '$work/other.safetensors'" \
    "$BIN/foil-train" -r "$work/none" "${small[@]}" \
    --init "$work/other.safetensors"
ok 'of an encoder of texts that there is not: 2' refuses 2 'has no encoder of texts' \
    "$BIN/foil-train" -r x --init text=x
ok 'two for one encoder: 2' refuses 2 'for the same encoder' \
    "$BIN/foil-train" -r x --init x --init image=y
ok 'texts in place of images: 2' refuses 2 'clip:16x1 reads texts' \
    "$BIN/foil-train" -r x --arch clip:16x1

# Two towers.  The vocabulary has no merges: its tokens are bytes.
echo '#version: none' >"$work/bytes.txt"
small=(--arch linear --text clip:16x1x2,context=12
    --vocabulary "$work/bytes.txt" --embed 8 --objective clip --optim adamw --lr 0.01 --threads 1)
ok 'images and captions' with "$work/pair" texts=3 --
ok 'leave text.safetensors, its moments and the vocabulary' \
    ls "$work/pair/latest"/{text,text-optim,model,head,optim}.safetensors \
    "$work/pair/latest/vocabulary.txt"
ok 'and what the encoder of texts is' jq -e '.text.arch == "clip:16x1x2" and
    .text.vocabulary == 514 and .text.context == 12 and
    .text.head == "project:8" and .encoder.head == "project:8"' \
    "$work/pair/latest/config.json"
ok 'their loss is not that of two views' refuses 1 'has a text encoder' \
    "$BIN/foil-eval" loss "$work/pair" "$work/set.tar"
ok 'the encoder of images is used like any other' "$BIN/foil-embed" \
    -o "$work/pair.npy" "$work/pair" "$work/set.tar"
ok 'micro-batches of both' with "$work/micro" texts=3 -- --micro-batch 3
# shellcheck disable=SC2016 # of jq
ok 'a loss that is the same to rounding' jq -es \
    'map(.loss) | .[0] - .[1] | fabs < 1e-4' \
    <(head -n 1 "$work/pair/metrics.jsonl") \
    <(head -n 1 "$work/micro/metrics.jsonl")
ok 'half of it' with "$work/half" texts=3 -- --steps 5
rm "$work/bytes.txt"
ok 'and the rest, without the file of the vocabulary' \
    with "$work/half" texts=3 -- --resume --steps 0
for file in model head optim text text-optim objective; do
    ok "the same $file" cmp "$work"/{pair,half}/latest/$file.safetensors
done
echo '#version: none' >"$work/bytes.txt"
cp "$work/pair/latest/text.safetensors" "$work/text.safetensors"
ok 'a locked encoder of texts' with "$work/lit" texts=3 -- --freeze text \
    --init "text=$work/text.safetensors"
ok 'stays as it was' cmp "$work/lit/latest/text.safetensors" \
    "$work/text.safetensors"
ok 'without moments' test ! -e "$work/lit/latest/text-optim.safetensors"
ok 'a locked encoder of images' with "$work/lock" texts=3 -- --freeze image \
    --checkpoint-every 4
for file in model head; do
    ok "whose $file stays" cmp "$work"/lock/step-0000000{4,8}/$file.safetensors
done
ok 'while the texts move' exits 1 \
    cmp "$work"/lock/step-0000000{4,8}/text.safetensors
begun bare with "$work/bare" -- --deadline 9
begun endless with "$work/endless" texts=3 end=5 -- --deadline 9
small=(--arch linear --text bow:8,context=4 --vocabulary "$work/bytes.txt" --embed 8
    --threads 1)
begun long with "$work/long" texts=3 -- --deadline 9
small[3]=bow:8,context=12
ok 'emc2 across images and captions, with its own chains' \
    with "$work/cross" texts=3 -- --objective emc2_bimodal --sampler trainer
ok 'chains are of images and of each caption' \
    grep -q 'sampler' "$work/cross/latest/samples.safetensors"
ok 'batches without captions are sent away' refuses 1 \
    'want 1, with captions, by foil-augment --views 1' again bare
ok 'so are captions that do not end' refuses 1 'does not end in the end token' \
    again endless
ok 'and those that are too long' refuses 1 'this run has context=4' again long
ok 'no vocabulary: 2' refuses 2 'needs --vocabulary' \
    "$BIN/foil-train" -r x --text bow:8
ok 'a vocabulary of nothing: 2' refuses 2 'no effect without --text' \
    "$BIN/foil-train" -r x --vocabulary x
ok 'no such encoder of texts: 2' refuses 2 'text resnet18: want one of bow' \
    "$BIN/foil-train" -r x --text resnet18 --vocabulary x
ok 'a head of its own: 2' refuses 2 'both encoders end in --embed' \
    "$BIN/foil-train" -r x --text bow:8 --vocabulary x --head 8
ok 'no such vocabulary: 1' refuses 1 'none.txt' "$BIN/foil-train" \
    -r "$work/none" --text bow:8 --vocabulary "$work/none.txt"

small=("${linear[@]}" --schedule cosine,end=0.01
    --objective sogclr,tau=0.5,tau-schedule=wave:1,tau-end=1,gamma=0.8,gamma-schedule=linear:1)
ok 'a temperature that moves' with "$work/w" --
# beta: 2, half way to 1, 1, half way back
ok 'is in the metrics' jq -se 'map(.tau * 100 | round) ==
    [50, 67, 100, 67, 50, 67, 100, 67]' "$work/w/metrics.jsonl"
ok 'so is a gamma' jq -se 'map(.gamma * 100 | round) ==
    [100, 95, 90, 85, 80, 80, 80, 80]' "$work/w/metrics.jsonl"
ok 'the rate goes to its end' jq -se \
    'map(.rate) | .[0] == 0.05 and .[7] > 0.01 and .[7] < 0.02' \
    "$work/w/metrics.jsonl"
small=("${linear[@]}" --objective isogclr,eta=0.1,eta-schedule=exp:0.5,eta-end=0)
ok 'a rate of temperatures' with "$work/y" --
ok 'that halves' jq -se 'map(.eta) == [0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05,
    0.05]' "$work/y/metrics.jsonl"

small=("${linear[@]}" --accumulate 3)
ok 'a step for three batches' with "$work/u" --
ok 'stops between them' with "$work/v" -- --steps 5
small=(--resume)
ok 'and goes on' with "$work/v" --
ok 'and goes on, to the same bits' diff -r "$work/u/latest/" "$work/v/latest/"

# black images are zeros, the variance of white ones overflows
small=(--arch resnet8 --head 8 --threads 1 --mean '0,0,0'
    --deviation '1e-30,1e-30,1e-30')
ok 'not finite: 1' refuses 1 'epoch 1, step 1: .* is not finite' \
    with "$work/i" white=1:1 --
ok 'the batch is written down' \
    jq -e '.epoch == 1 and .step == 1 and (.ids | length) == 8' \
    "$work/i/nonfinite.jsonl"
ok 'what was before is saved' test -e "$work/i/step-00000005"
ok 'not finite: skipped' with "$work/j" white=1:1 -- --nonfinite skip
ok 'and counted' grep -q '1 step skipped' "$work/j.err"
ok 'not finite: rolled back' with "$work/k" white=1:1 -- \
    --nonfinite rollback --checkpoint-every 2

small=("${linear[@]}")

# files of at most 1 KiB: no checkpoint can be written
with_small_files() (
    ulimit -f 1
    with "$@"
)
ok 'no room for a checkpoint: 1' exits 1 with_small_files "$work/l" -- \
    --checkpoint-every 3
ok 'training went on' grep -q '8 steps' "$work/l.err"
ok 'each try was said' test "$(grep -c 'no checkpoint' "$work/l.err")" -eq 3
ok 'nothing half written is left' \
    test -z "$(find "$work/l" -name '*step-*')"

ok 'a warm-up longer than the run: 1' exits 1 with "$work/warm" epochs=2 -- \
    --warmup 2.5
ok 'is refused with its first batch, and what to do' grep -q \
    -- '--warmup is 2.5 epochs and the run has 2.*--warmup 0.2' "$work/warm.err"
ok 'one as long as the run is not' with "$work/warmed" epochs=2 -- --warmup 2

"$python" "$augmenter" "ipc://$work/m/batch" nap=0.1 epochs=900 \
    >"$work/m.augmenter" 2>&1 &
brings=$!
"$BIN/foil-train" -r "$work/m" "${small[@]}" 2>"$work/m.err" &
pid=$!
waits_for "$work/m/metrics.jsonl"
ok 'two trainers in one folder: 1' refuses 1 'another foil-train has' \
    "$BIN/foil-train" -r "$work/m"
ok 'a dry run beside it: 1' refuses 1 'another foil-train has' \
    "$BIN/foil-train" --dry-run -r "$work/m"
kill -TERM "$pid"
wait "$pid"
ok 'SIGTERM ends it well' test $? -eq 0
ok 'saved' grep -q "; saved in '$work/m/latest'\$" "$work/m.err"
wait "$brings"
ok 'and its augmenter' grep -qx end "$work/m.augmenter"

# dry DIR OPTION... : judged, and nothing in the folder changes
dry() {
    find "$1" -printf '%p %T@ %s\n' 2>/dev/null | sort >"$work/before"
    "$BIN/foil-train" --dry-run -r "$@" || return
    find "$1" -printf '%p %T@ %s\n' 2>/dev/null | sort | cmp "$work/before" -
}
done=$(wc -l <"$work/m/metrics.jsonl")
ok 'a dry run of a new run' dry "$work/new" --objective cache
ok 'says what it needs, and that nothing is done' jq -e '. == {objective:
    "cache", precision: "f32", negatives: "cache", outside: true, views: 2,
    epoch: 0, step: 0, total: 0, enough: false}' "$work/out"
ok 'no service with chains of its own' dry "$work/new" --objective emc2 \
    --sampler trainer
ok 'says so' jq -e '.negatives == null' "$work/out"
ok 'of a run that is there: 1' refuses 1 'holds a run: --resume' \
    "$BIN/foil-train" --dry-run -r "$work/m"
ok 'of one to be resumed' dry "$work/m" --resume --steps "$done"
ok 'says where it is' jq -e ".total == $done and .enough" "$work/out"
ok 'judges what is said again: 1' refuses 1 'lr is .* add --override lr' \
    "$BIN/foil-train" --dry-run -r "$work/m" --resume --lr 7

done_testing
