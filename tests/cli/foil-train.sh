#!/bin/bash
# foil-train for its users, with an augmenter in Python.
# Mostly waits, 30 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

augmenter=$(cd "${0%/*}" && pwd)/augmenter.py
linear=(--arch linear --head 8 --lr 0.05 --threads 1)
small=("${linear[@]}")

# train DIR KEY=VALUE... -- OPTIONS : a trainer and its augmenter; returns the trainer's
# exit code
train() {
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

# result_of JOB : prints the messages of a background job; returns its exit code
result_of() {
    local code=0
    wait "${job_pid[$1]}" || code=$?
    cat "$work/$1.job" >&2
    return "$code"
}

same_metrics() {
    diff <(timeless "$1") <(timeless "$2")
}

common foil-train -r "$work/none"
ok 'foil-train without a run directory exits with 2' \
    refuses 2 '-r is missing' "$BIN/foil-train"
ok 'tau=0 exits with 2' refuses 2 "tau '0'" "$BIN/foil-train" -r x --objective ,tau=0
ok 'an unknown objective exits with 2' refuses 2 "no objective 'simclear'" \
    "$BIN/foil-train" -r x --objective simclear
ok 'a parameter of another objective exits with 2' refuses 2 \
    "simclr has no parameter 'rho': it has tau" \
    "$BIN/foil-train" -r x --objective ,rho=0.3
ok 'a second parameter of another objective exits with 2' refuses 2 \
    "hcl has no parameter 'rho': it has tau, beta" \
    "$BIN/foil-train" -r x --objective hcl,beta=0.7,rho=0.3
ok 'an unknown parameter of an objective exits with 2' \
    refuses 2 "--objective has no parameter 'lr'" \
    "$BIN/foil-train" -r x --objective hcl,lr=0.1
ok 'an unbounded running mean exits with 2' refuses 2 'grows without bound' \
    "$BIN/foil-train" -r x --objective sogclr,gamma=0.5 --compat reference
ok '--sampler trainer with cache exits with 2' refuses 2 \
    'cache needs foil-negatives' "$BIN/foil-train" -r x --objective cache \
    --sampler trainer
ok '--list objectives prints lines of JSON' "$BIN/foil-train" --list objectives
ok '--list objectives prints what each objective needs' \
    jq -es 'map(select(.name == "emc2"))[0] |
    .negatives == "emc2" and .inside and .defaults == {tau: 0.5}' "$work/out"
ok 'an unknown encoder exits with 2' refuses 2 "no encoder 'resnet1'" \
    "$BIN/foil-train" -r x --arch resnet1
ok 'an invalid head exits with 2' refuses 2 'head' "$BIN/foil-train" -r x --head 12-x
ok 'an unknown schedule exits with 2' refuses 2 'schedule' \
    "$BIN/foil-train" -r x --schedule cosines
ok 'tau-schedule without tau-end exits with 2' refuses 2 'needs tau-end' \
    "$BIN/foil-train" -r x --objective simclr,tau-schedule=cosine
ok 'tau-end without tau-schedule exits with 2' refuses 2 'needs a tau-schedule' \
    "$BIN/foil-train" -r x --objective simclr,tau-end=1
ok 'tau-schedule with learnt temperatures exits with 2' \
    refuses 2 'learns its temperatures' \
    "$BIN/foil-train" -r x --objective isogclr,tau-schedule=cosine,tau-end=1
ok 'gamma-schedule without a running mean exits with 2' \
    refuses 2 "simclr has no parameter 'gamma-schedule'" \
    "$BIN/foil-train" -r x --objective simclr,gamma-schedule=cosine
ok 'tau-schedule=step exits with 2' refuses 2 'step is for the learning rate' \
    "$BIN/foil-train" -r x --objective simclr,tau-schedule=step:3,tau-end=1
ok 'an invalid --mean exits with 2' \
    refuses 2 "--mean '1,2'" "$BIN/foil-train" -r x --mean 1,2
ok 'Nesterov with adam exits with 2' refuses 2 Nesterov \
    "$BIN/foil-train" -r x --optim adam,nesterov
ok '--override of an unknown option exits with 2' refuses 2 'checkpoints do not store' \
    "$BIN/foil-train" -r x --override speed
ok '--keys without --allow exits with 2' refuses 2 'go together' \
    "$BIN/foil-train" -r x --keys y
ok 'a run directory that cannot be made exits with 1' refuses 1 'cannot make folder' \
    "$BIN/foil-train" -r /dev/null/x "${small[@]}"
ok '--deadline without an augmenter exits with 1' \
    refuses 1 'no batch for epoch 0, step 0 in 1 seconds' \
    "$BIN/foil-train" -r "$work/alone" "${small[@]}" --deadline 1

if ! has_python msgpack zmq; then
    skip 'runs of foil-train' 'no python3-zmq, python3-msgpack'
    done_testing
fi

warm zmq msgpack random
ok 'a run of foil-train succeeds' train "$work/a" -- --checkpoint-every 3
ok 'the augmenter gets the end of the run' grep -qx end "$work/a.augmenter"
# summary RUN NAME : that number of the summary is that of the last line of the metrics
summary() {
    local shown
    shown=$(grep -oP "(?<= $2 )[-0-9.]+(?=[; ])" "$1.err" | tail -n 1)
    test "$shown" = "$(tail -n 1 "$1/metrics.jsonl" |
        jq ".$2" | xargs printf '%.4f')"
}
ok 'foil-train prints a summary' grep -q \
    "8 steps, 64 images .*; saved in '$work/a/latest'\$" "$work/a.err"
# at_width COLUMNS : the same run on a terminal of that width; $work/drawn has its lines
# of progress
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
ok 'a line of progress has step, epoch and loss' grep -qE \
    '^[1-8]/8 steps  epoch [12]/2  loss [0-9.]+' "$work/drawn"
ok 'no line of progress is wider than 200 columns' at_width 200
ok 'metrics.jsonl has a line for each step' test "$(wc -l <"$work/a/metrics.jsonl")" -eq 8
ok 'metrics.jsonl has the steps in the order of the plan' \
    test "$(jq -r '"\(.epoch):\(.step)"' "$work/a/metrics.jsonl" | xargs)" = \
    '0:0 0:1 0:2 0:3 1:0 1:1 1:2 1:3'
ok 'two checkpoints remain' \
    test "$(cd "$work/a" && echo step-*)" = 'step-00000006 step-00000008'
ok 'latest is the newest checkpoint' \
    test "$(readlink "$work/a/latest")" = step-00000008
ok 'a used run directory without --resume exits with 1' \
    refuses 1 'holds a run: --resume' \
    "$BIN/foil-train" -r "$work/a"
ok 'a second run with the same seed succeeds' train "$work/b" -- --checkpoint-every 0
ok 'a second run with the same seed has the same checkpoint' \
    diff -r "$work/a/latest/" "$work/b/latest/"
ok 'a second run with the same seed has the same metrics' same_metrics a b

ok '--steps stops a run' train "$work/c" -- --steps 5
ok '--resume of a finished run exits with 0' exits 0 \
    "$BIN/foil-train" -r "$work/c" --resume --steps 5
ok '--resume of a finished run says that nothing is left' \
    grep -q 'nothing is left to do after 5 steps' "$work/out"
ahead=$(($(date +%s) + 3600))000000007
echo "$ahead" >"$work/c/session"
ok '--resume of a finished run with a clock an hour back exits with 0' exits 0 \
    "$BIN/foil-train" -r "$work/c" --resume --steps 5
ok 'a resumed run has a later session than the one before' \
    grep -qx "$((ahead + 1))" "$work/c/session"
ok '--resume with another tau exits with 1' \
    refuses 1 '--objective: tau is 0.2, but 0.5 in the checkpoint' \
    "$BIN/foil-train" -r "$work/c" --resume --objective ,tau=0.2
cp -r "$work/c" "$work/d"
cp -r "$work/c" "$work/e"
cp -r "$work/c" "$work/f"
cp -r "$work/c" "$work/moved"
rm "$work"/moved/{metrics.jsonl,batches.*}
small=(--resume)
ok '--resume continues a run' train "$work/c" --
ok 'a resumed run has the same checkpoint' diff -r "$work/a/latest/" "$work/c/latest/"
ok 'a resumed run has the same metrics' same_metrics a c
ok '--resume without metrics and batches succeeds' train "$work/moved" --
ok '--resume without metrics and batches has the same checkpoint' \
    diff -r "$work/a/latest/" "$work/moved/latest/"
ok '--resume without metrics writes those of its own steps' \
    diff <(timeless a | tail -n 3) <(timeless moved)
ok '--resume without batches writes rows of its own steps' \
    jq -e '.first == 6 and .offset == 0' "$work/moved/batches.jsonl"
ok '--override tau resumes with another tau' \
    train "$work/d" -- --objective simclr,tau=0.2 --override tau
ok '--override tau is in the checkpoint' \
    jq -e '.options.tau == 0.2' "$work/d/latest/config.json"
ok '--resume with another data set exits with 1' \
    refuses 1 'digest cdcdcdcd; the checkpoint is of' \
    train "$work/e" "digest=$(printf 'cd%.0s' {1..16})" -- --deadline 5
ok '--override dataset resumes with another data set' train "$work/e" \
    "digest=$(printf 'cd%.0s' {1..16})" -- --override dataset
printf 'x' | dd of="$work/f/latest/optim.safetensors" bs=1 seek=99 conv=notrunc \
    2>/dev/null
ok '--resume with a damaged checkpoint exits with 1' \
    refuses 1 "optim.safetensors' is damaged" \
    "$BIN/foil-train" -r "$work/f" --resume
rm -r "$work"/f/step-*
ok '--resume without a checkpoint starts the run' train "$work/f" -- "${linear[@]}"
small=("${linear[@]}")

ok 'rho above what 14 negatives allow exits with 1' \
    refuses 1 'rho 3: no softmax over 14 negatives' \
    train "$work/wide" -- --objective isogclr,rho=3
ok 'isogclr trains' train "$work/near" -- --objective isogclr
ok 'metrics of isogclr have kl and temperatures' \
    jq -se 'length == 8 and all(.kl > 0 and .tau_min < .tau_max and
    ([.tau_min, .tau_25, .tau_50, .tau_75, .tau_max] | . == sort))' \
    "$work/near/metrics.jsonl"

# it ends at its deadline, which leaves time for all messages on a busy machine
start_job h train "$work/h" images=1 -- --deadline 9
ok 'a run with a substituted image succeeds' train "$work/g" replaced=1:2 --
ok 'the summary counts substituted images' grep -q '1 image replaced' "$work/g.err"
ok 'emc2 without a negatives service exits with 1' refuses 1 'negatives' \
    train "$work/n" -- --objective emc2 --deadline 5
ok 'an objective with a loss other than InfoNCE trains' \
    train "$work/dcl" -- --objective dcl
ok 'the summary has the loss of dcl' summary "$work/dcl" loss
ok 'the summary has InfoNCE of dcl, too' summary "$work/dcl" infonce
ok '--policy in-batch trains without a negatives service' \
    train "$work/o" -- --objective emc2 \
    --policy in-batch
ok 'metrics mark steps without a negatives service' \
    test "$(jq -s 'map(.without_service) | add' "$work/o/metrics.jsonl")" -eq 8
ok 'the summary counts steps without a negatives service' \
    grep -q '8 without the negatives service' "$work/o.err"
ok 'batches of one image end the run with 1' refuses 1 'given up' result_of h
ok 'the augmenter gets the reason for a refused batch' \
    grep -q 'want at least 2 images' "$work/h.augmenter"

small=(--arch table,hidden=5 --lr 0.5 --optim sgd,momentum=0 --weight-decay 0
    --threads 1)
ok 'a table of embeddings trains' train "$work/p" --
ok 'a table has a row for each view of each image' \
    grep -qa '"table.weight":{"dtype":"F32","shape":\[64,2,5\]' \
    "$work/p/latest/model.safetensors"
ok 'a table has no head' test ! -e "$work/p/latest/head.safetensors"
ok 'a table stops after --steps' train "$work/q" -- --steps 5
small=(--resume)
ok 'a table resumes' train "$work/q" --
ok 'a resumed table has the same checkpoint' diff -r "$work/p/latest/" "$work/q/latest/"
ok 'a data set of as many images is made' \
    "$BIN/foil-data" generate --size 8 -o "$work/set.tar" 64
"$BIN/foil-data" index "$work/set.tar"
ok 'foil-embed writes rows of a table' "$BIN/foil-embed" -o "$work/u.npy" "$work/p" \
    "$work/set.tar"
ok 'foil-embed writes rows of the second view' \
    "$BIN/foil-embed" -o "$work/v.npy" --view 1 "$work/p" \
    "$work/set.tar"
ok 'the views of a table have different rows' exits 1 cmp -s "$work/u.npy" "$work/v.npy"
ok 'foil-embed of a third view of a table exits with 1' \
    refuses 1 'table of 2 views' "$BIN/foil-embed" \
    -o "$work/w.npy" --view 2 "$work/p" "$work/set.tar"
"$BIN/foil-data" generate --size 8 -o "$work/more.tar" 65
"$BIN/foil-data" index "$work/more.tar"
ok 'foil-embed of a table with another data set exits with 1' \
    refuses 1 'table of 64 images, the data set has 65' \
    "$BIN/foil-embed" -o "$work/w.npy" "$work/p" "$work/more.tar"

# basis FILE ROWS WIDTH : writes an array of f4 with different numbers
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
ok 'an encoder with basis= trains' train "$work/r" -- --arch ",basis=$work/basis.npy"
ok 'the checkpoint has the basis' \
    grep -qa '"basis.weight":{"dtype":"F32","shape":\[4,192' \
    "$work/r/latest/model.safetensors"
ok 'an encoder with basis= stops after --steps' \
    train "$work/s" -- --arch ",basis=$work/basis.npy" --steps 5
rm "$work/basis.npy"
small=(--resume)
ok 'an encoder with basis= resumes without the file' train "$work/s" --
ok 'an encoder with basis= resumes to the same checkpoint' \
    diff -r "$work/r/latest/" "$work/s/latest/"
small=(--arch linear --head none)
ok 'a basis of images of another size exits with 1' \
    refuses 1 'for images of 191 numbers' \
    train "$work/t" -- --arch ",basis=$work/other.npy"
ok 'a missing basis exits with 1' refuses 1 'basis.npy' \
    "$BIN/foil-train" -r "$work/t" "${small[@]}" --arch ",basis=$work/basis.npy"
ok 'basis= of another encoder exits with 2' refuses 2 'not for mlp' \
    "$BIN/foil-train" -r x --arch mlp,basis=x
ok 'basis= with --mean exits with 2' refuses 2 '--mean and --deviation have no effect' \
    "$BIN/foil-train" -r x --arch linear,basis=x --mean 0,0,0

basis "$work/rows.npy" 128 5
small=(--arch table,hidden=5 --lr 0 --weight-decay 0 --threads 1)
ok 'a table starts with rows of a file' train "$work/rows" -- \
    --arch ",rows=$work/rows.npy"
ok 'a table keeps the rows of a file at learning rate 0' \
    cmp <(tail -c 2560 "$work/rows.npy") \
    <(tail -c 2560 "$work/rows/latest/model.safetensors")
ok 'rows that do not fit a table exit with 1' refuses 1 'want finite f4 \[128,5\]' \
    train "$work/unfit" -- --arch ",rows=$work/other.npy"
ok 'rows= of another encoder exits with 2' refuses 2 'not for mlp' \
    "$BIN/foil-train" -r x --arch mlp,rows=x
small=(--arch rows,hidden=3 --head none --lr 0.05 --threads 1)
ok 'an encoder of rows trains' train "$work/looked" -- \
    --arch ",rows=$work/rows.npy"
ok 'the checkpoint has the rows' cmp <(tail -c 2560 "$work/rows.npy") \
    <(tail -c 2632 "$work/looked/latest/model.safetensors" | head -c 2560)
ok 'an encoder of rows stops after --steps' \
    train "$work/looks" -- --arch ",rows=$work/rows.npy" --steps 5
small=(--resume)
ok 'an encoder of rows resumes without the file' train "$work/looks" --
ok 'an encoder of rows resumes to the same checkpoint' \
    diff -r "$work/looked/latest/" "$work/looks/latest/"
ok 'foil-embed writes features of rows' \
    "$BIN/foil-embed" -o "$work/u.npy" "$work/looked" \
    "$work/set.tar"
small=(--arch rows --head none)
ok 'rows that do not fit the views exit with 1' refuses 1 'want finite f4 \[128,191\]' \
    train "$work/unfit" -- --arch ",rows=$work/other.npy"
ok '--arch rows without a file exits with 2' \
    refuses 2 'needs rows,rows=FILE' "$BIN/foil-train" -r x --arch rows
ok '--arch rows with basis= exits with 2' \
    refuses 2 'reads none' "$BIN/foil-train" -r x \
    --arch rows,rows=x,basis=y
own=(-r x --objective emc2)
ok '--proposals without --sampler trainer exits with 2' \
    refuses 2 'is for --sampler trainer' \
    "$BIN/foil-train" "${own[@]}" --proposals once
ok '--proposals of an objective without chains exits with 2' refuses 2 'not for simclr' \
    "$BIN/foil-train" -r x --proposals ,moves=3
ok '--proposals bank without an encoder of rows exits with 2' \
    refuses 2 'an encoder of rows' \
    "$BIN/foil-train" "${own[@]}" --sampler trainer --proposals bank
ok '--proposals exact,scores=stale exits with 2' refuses 2 'an encoder of rows' \
    "$BIN/foil-train" "${own[@]}" --sampler trainer --arch table --proposals exact,scores=stale
ok '--proposals exact,burn-in=1 exits with 2' \
    refuses 2 "exact of emc2 has no parameter 'burn-in'" \
    "$BIN/foil-train" "${own[@]}" --sampler trainer --arch table \
    --proposals exact,burn-in=1
ok '--proposals with an unknown parameter exits with 2' refuses 2 "no parameter 'moves'" \
    "$BIN/foil-train" "${own[@]}" --sampler trainer --proposals once,moves=3
ok '--proposals row of emc2_bimodal exits with 2' refuses 2 \
    'emc2_bimodal has no --proposals row: there are once bank exact exact-bank' \
    "$BIN/foil-train" -r x --objective emc2_bimodal --sampler trainer \
    --proposals row

small=(--arch vit:16x1x4 --head project:4 --lr 0 --threads 1)
ok 'a vision transformer trains' train "$work/vit" --
first=$work/vit/latest/model.safetensors
cp "$first" "$work/other.safetensors"
ok '--init starts with given weights' train "$work/init" -- -s 2 \
    --init "$work/other.safetensors"
ok '--init does not change the weights' cmp "$first" "$work/init/latest/model.safetensors"
ok 'foil-train prints the file of --init' \
    grep -q "images starts with '$work/other.safetensors'\$" \
    "$work/init.err"
ok '--init does not set the head' exits 1 cmp \
    "$work/vit/latest/head.safetensors" "$work/init/latest/head.safetensors"
ok '--init is in the checkpoint' jq -e '.options.init | length == 1' \
    "$work/init/latest/config.json"
rm "$work/other.safetensors"
ok '--resume does not read the file of --init' "$BIN/foil-train" -r "$work/init" \
    "${small[@]}" -s 2 --resume --steps 8
small=(--head project:4 --threads 1)
ok '--init of another shape exits with 1' \
    refuses 1 "conv_proj.weight' is \[16,3,4,4\], the encoder" \
    train "$work/deep" -- --arch vit:16x1x2 --init "image=$first"
ok '--init of another depth exits with 1' \
    refuses 1 'encoder_layer_1.ln_1.weight.* is missing' \
    train "$work/deep" -- --arch vit:16x2x4 --init "image=$first"
ok '--init of a missing file exits with 1' \
    refuses 1 "there is no '$work/other.safetensors'" \
    "$BIN/foil-train" -r "$work/none" "${small[@]}" \
    --init "$work/other.safetensors"
ok '--init text= without a text encoder exits with 2' \
    refuses 2 'has no encoder of texts' \
    "$BIN/foil-train" -r x --init text=x
ok 'two --init for one encoder exit with 2' refuses 2 'for the same encoder' \
    "$BIN/foil-train" -r x --init x --init image=y
ok '--arch of a text encoder exits with 2' refuses 2 'clip:16x1 reads texts' \
    "$BIN/foil-train" -r x --arch clip:16x1

# Two towers.  The vocabulary has no merges, so its tokens are bytes.
echo '#version: none' >"$work/bytes.txt"
small=(--arch linear --text clip:16x1x2,context=12
    --vocabulary "$work/bytes.txt" --embed 8 --objective clip --optim adamw --lr 0.01 --threads 1)
ok 'an encoder of images and captions trains' train "$work/pair" texts=3 --
ok 'the checkpoint has text encoder, moments and vocabulary' \
    ls "$work/pair/latest"/{text,text-optim,model,head,optim}.safetensors \
    "$work/pair/latest/vocabulary.txt"
ok 'config.json describes the text encoder' jq -e '.text.arch == "clip:16x1x2" and
    .text.vocabulary == 514 and .text.context == 12 and
    .text.head == "project:8" and .encoder.head == "project:8"' \
    "$work/pair/latest/config.json"
ok 'foil-eval loss of a run with captions exits with 1' \
    refuses 1 'has a text encoder' \
    "$BIN/foil-eval" loss "$work/pair" "$work/set.tar"
ok 'foil-embed reads the image encoder' "$BIN/foil-embed" \
    -o "$work/pair.npy" "$work/pair" "$work/set.tar"
ok 'images and captions train in micro-batches' \
    train "$work/micro" texts=3 -- --micro-batch 3
# shellcheck disable=SC2016 # of jq
ok 'micro-batches change the loss by rounding only' jq -es \
    'map(.loss) | .[0] - .[1] | fabs < 1e-4' \
    <(head -n 1 "$work/pair/metrics.jsonl") \
    <(head -n 1 "$work/micro/metrics.jsonl")
ok 'a run of images and captions stops after --steps' \
    train "$work/half" texts=3 -- --steps 5
rm "$work/bytes.txt"
ok 'a run of images and captions resumes without its vocabulary' \
    train "$work/half" texts=3 -- --resume --steps 0
for file in model head optim text text-optim objective; do
    ok "a resumed run has the same $file" cmp "$work"/{pair,half}/latest/$file.safetensors
done
echo '#version: none' >"$work/bytes.txt"
cp "$work/pair/latest/text.safetensors" "$work/text.safetensors"
ok '--freeze text trains' train "$work/lit" texts=3 -- --freeze text \
    --init "text=$work/text.safetensors"
ok '--freeze text does not change the text encoder' \
    cmp "$work/lit/latest/text.safetensors" \
    "$work/text.safetensors"
ok '--freeze text writes no moments of the text encoder' \
    test ! -e "$work/lit/latest/text-optim.safetensors"
ok '--freeze image trains' train "$work/lock" texts=3 -- --freeze image \
    --checkpoint-every 4
for file in model head; do
    ok "--freeze image does not change the $file" \
        cmp "$work"/lock/step-0000000{4,8}/$file.safetensors
done
ok '--freeze image changes the text encoder' exits 1 \
    cmp "$work"/lock/step-0000000{4,8}/text.safetensors
start_job bare train "$work/bare" -- --deadline 9
start_job endless train "$work/endless" texts=3 end=5 -- --deadline 9
small=(--arch linear --text bow:8,context=4 --vocabulary "$work/bytes.txt" --embed 8
    --threads 1)
start_job long train "$work/long" texts=3 -- --deadline 9
small[3]=bow:8,context=12
ok 'emc2_bimodal trains with --sampler trainer' \
    train "$work/cross" texts=3 -- --objective emc2_bimodal --sampler trainer
ok 'the checkpoint has chains of images and captions' \
    grep -q 'sampler' "$work/cross/latest/samples.safetensors"
ok 'batches without captions are refused' refuses 1 \
    'want 1, with captions, by foil-augment --views 1' result_of bare
ok 'captions without an end token are refused' refuses 1 'does not end in the end token' \
    result_of endless
ok 'captions longer than context are refused' \
    refuses 1 'this run has context=4' result_of long
ok '--text without --vocabulary exits with 2' refuses 2 'needs --vocabulary' \
    "$BIN/foil-train" -r x --text bow:8
ok '--vocabulary without --text exits with 2' refuses 2 'no effect without --text' \
    "$BIN/foil-train" -r x --vocabulary x
ok '--text with an image encoder exits with 2' \
    refuses 2 'text resnet18: want one of frozen' \
    "$BIN/foil-train" -r x --text resnet18 --vocabulary x
ok '--head with --text exits with 2' refuses 2 'both encoders end in --embed' \
    "$BIN/foil-train" -r x --text bow:8 --vocabulary x --head 8
ok 'a missing vocabulary exits with 1' refuses 1 'none.txt' "$BIN/foil-train" \
    -r "$work/none" --text bow:8 --vocabulary "$work/none.txt"

small=("${linear[@]}" --schedule cosine,end=0.01
    --objective sogclr,tau=0.5,tau-schedule=wave:1,tau-end=1,gamma=0.8,gamma-schedule=linear:1)
ok 'a run with a tau-schedule trains' train "$work/w" --
# beta: 2, between, 1, between
ok 'metrics have the temperature of each step' jq -se 'map(.tau * 100 | round) ==
    [50, 67, 100, 67, 50, 67, 100, 67]' "$work/w/metrics.jsonl"
ok 'metrics have the gamma of each step' jq -se 'map(.gamma * 100 | round) ==
    [100, 95, 90, 85, 80, 80, 80, 80]' "$work/w/metrics.jsonl"
ok 'cosine,end= ends the learning rate near its end' jq -se \
    'map(.lr) | .[0] == 0.05 and .[7] > 0.01 and .[7] < 0.02' \
    "$work/w/metrics.jsonl"
small=("${linear[@]}" --objective isogclr,eta=0.1,eta-schedule=exp:0.5,eta-end=0)
ok 'a run with an eta-schedule trains' train "$work/y" --
ok 'metrics have an eta that is halved' \
    jq -se 'map(.eta) == [0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05,
    0.05]' "$work/y/metrics.jsonl"

small=("${linear[@]}" --accumulate 3)
ok '--accumulate 3 trains' train "$work/u" --
ok '--accumulate 3 stops between the batches of a step' train "$work/v" -- --steps 5
small=(--resume)
ok '--accumulate 3 resumes' train "$work/v" --
ok '--accumulate 3 resumes to the same checkpoint' \
    diff -r "$work/u/latest/" "$work/v/latest/"

# black images are zeros; the variance of white ones overflows
small=(--arch resnet8 --head 8 --threads 1 --mean '0,0,0'
    --deviation '1e-30,1e-30,1e-30')
ok 'a loss that is not finite exits with 1' \
    refuses 1 'epoch 1, step 1: .* is not finite' \
    train "$work/i" white=1:1 --
ok 'nonfinite.jsonl has the batch' \
    jq -e '.epoch == 1 and .step == 1 and (.ids | length) == 8' \
    "$work/i/nonfinite.jsonl"
ok 'the steps before are saved' test -e "$work/i/step-00000005"
ok '--nonfinite skip continues a run' train "$work/j" white=1:1 -- --nonfinite skip
ok 'the summary counts a skipped step' grep -q '1 step skipped' "$work/j.err"
ok '--nonfinite rollback continues a run' train "$work/k" white=1:1 -- \
    --nonfinite rollback --checkpoint-every 2

small=("${linear[@]}")

# files of at most 1 KiB: no checkpoint can be written
train_small_files() (
    ulimit -f 1
    train "$@"
)
ok 'a run that cannot write the last checkpoint exits with 1' \
    exits 1 train_small_files "$work/l" -- \
    --checkpoint-every 3
ok 'the run continues after a checkpoint failed' grep -q '8 steps' "$work/l.err"
ok 'foil-train reports each checkpoint that failed' \
    test "$(grep -c 'no checkpoint' "$work/l.err")" -eq 3
ok 'a failed checkpoint leaves no partial files' \
    test -z "$(find "$work/l" -name '*step-*')"

ok 'a warm-up longer than the run exits with 1' exits 1 train "$work/warm" epochs=2 -- \
    --warmup 2.5
ok 'a warm-up that is too long is refused at the first batch' grep -q \
    -- '--warmup is 2.5 epochs and the run has 2.*--warmup 0.2' "$work/warm.err"
ok 'a warm-up as long as the run is accepted' train "$work/warmed" epochs=2 -- --warmup 2

"$python" "$augmenter" "ipc://$work/m/batch" nap=0.1 epochs=900 \
    >"$work/m.augmenter" 2>&1 &
feeder=$!
"$BIN/foil-train" -r "$work/m" "${small[@]}" 2>"$work/m.err" &
pid=$!
waits_for "$work/m/metrics.jsonl"
ok 'a second trainer in a run directory exits with 1' refuses 1 'another foil-train has' \
    "$BIN/foil-train" -r "$work/m"
ok '--dry-run during a run exits with 1' refuses 1 'another foil-train has' \
    "$BIN/foil-train" --dry-run -r "$work/m"
kill -TERM "$pid"
wait "$pid"
ok 'foil-train exits with 0 after SIGTERM' test $? -eq 0
ok 'foil-train saves a checkpoint after SIGTERM' \
    grep -q "; saved in '$work/m/latest'\$" "$work/m.err"
wait "$feeder"
ok 'the augmenter ends after SIGTERM of foil-train' grep -qx end "$work/m.augmenter"

# dry DIR OPTION... : --dry-run succeeds and changes nothing in the folder
dry() {
    find "$1" -printf '%p %T@ %s\n' 2>/dev/null | sort >"$work/before"
    "$BIN/foil-train" --dry-run -r "$@" || return
    find "$1" -printf '%p %T@ %s\n' 2>/dev/null | sort | cmp "$work/before" -
}
done=$(wc -l <"$work/m/metrics.jsonl")
ok '--dry-run of a new run' dry "$work/new" --objective cache
ok '--dry-run prints needs and state of the run' jq -e '. == {objective:
    "cache", precision: "f32", negatives: "cache", outside: true, views: 2,
    epoch: 0, step: 0, total: 0, enough: false}' "$work/out"
ok '--dry-run with --sampler trainer' dry "$work/new" --objective emc2 \
    --sampler trainer
ok '--dry-run with --sampler trainer needs no service' \
    jq -e '.negatives == null' "$work/out"
ok '--dry-run of an existing run exits with 1' refuses 1 'holds a run: --resume' \
    "$BIN/foil-train" --dry-run -r "$work/m"
ok '--dry-run --resume' dry "$work/m" --resume --steps "$done"
ok '--dry-run --resume prints the state of the run' \
    jq -e ".total == $done and .enough" "$work/out"
ok '--dry-run --resume with another option exits with 1' \
    refuses 1 'lr is .* add --override lr' \
    "$BIN/foil-train" --dry-run -r "$work/m" --resume --lr 7

done_testing
