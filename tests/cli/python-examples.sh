#!/usr/bin/env bash
# The examples of pipelines/python, each beside stages in C.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
examples=$(cd "${0%/*}/../../pipelines/python" && pwd)
export PATH=$BIN:$PATH OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

if ! has_python zmq msgpack numpy; then
    skip 'stages in Python' 'no python3-zmq, python3-msgpack, python3-numpy'
    done_testing
fi
data=$work/data.tar
# small ones: their encoder is a ResNet-18
foil-data generate --size 16 -o "$data" 64 2>/dev/null
foil-data index "$data" 2>/dev/null

# example NAME OPTION... : one in the background; its number is in $pid[NAME]
declare -A pid=()
example() {
    "$python" "$examples/$1.py" "${@:2}" >"$work/$1.out" 2>&1 &
    pid[$1]=$!
}
ended() {
    local code=0
    wait "${pid[$1]}" || code=$?
    cat "$work/$1.out"
    return "$code"
}

# stages RUN : selector and augmenter, in C
stages() {
    foil-select -r "$work/$1" -b 16 -e 2 "${@:2}" "$data" 2>"$work/select" &
    foil-augment -r "$work/$1" --size 8 "$data" 2>"$work/augment" &
}

# all RUN : two epochs of four steps are trained, each with a finite loss
all() {
    jq -se 'map([.epoch, .step]) == [range(8) | [(. / 4 | floor), . % 4]] and
        all(.[]; .loss | isnormal)' "$work/$1/metrics.jsonl"
}

modules=(zmq msgpack numpy)
! has_python torch torchvision PIL || modules+=(torch torchvision PIL)
warm "${modules[@]}"

# negatives and batches in Python, trained in C
example curriculum -r "$work/c" -b 16 -e 2 --lag 0 "$data"
example sampler -r "$work/c" -k 4
stage=augment
if has_python torchvision PIL; then
    example augmenter -r "$work/c" --size 16 "$data"
    stage=augmenter
else
    skip 'augmenter.py' 'no python3-torchvision'
    foil-augment -r "$work/c" --size 16 "$data" 2>/dev/null &
fi
ok 'foil-train on views, batches and negatives of examples' \
    timeout 120 foil-train -r "$work/c" --arch linear --head 8 --threads 1 \
    --objective emc2 --keep-features 1
ok 'it has trained all steps' all c
ok 'with what the sampler says' jq -e .hardest "$work/c/metrics.jsonl"
ok 'it was told the strategy, of the epoch with features' jq -se \
    'map(select(.plan).plan.strategy) == ["curriculum"]' "$work/c/metrics.jsonl"
ok 'curriculum.py ends with the run' ended curriculum
[[ $stage == augment ]] || ok 'so does augmenter.py' ended augmenter
kill "${pid[sampler]}"

if ! has_python torch torchvision; then
    skip 'examples in PyTorch' 'no python3-torch'
    done_testing
fi

# trained in PyTorch
example trainer -r "$work/emc2" --objective emc2 --autocast
stages emc2
foil-negatives -r "$work/emc2" 2>"$work/negatives" &
negatives=$!
ok 'trainer.py with EMC2 and autocast' ended trainer
ok 'trains all steps' all emc2
ok 'on what the chains say' jq -se 'all(.[]; .accepted >= 0)' \
    "$work/emc2/metrics.jsonl"
kill "$negatives"

example watch "$work/spectral" "$data"
ok 'trainer.py in a pipeline, on batches that are planned from features' \
    foil run spectral -r "$work/spectral" --batch 16 --epochs 2 --augment \
    '--size 8' --train-command "$python $examples/trainer.py" "$data"
ok 'trains all steps, too' all spectral
ok 'watch.py ends with the run' ended watch
ok 'and has an accuracy of each epoch' jq -se \
    'map(.epoch) == [1, 2] and all(.[]; .knn1 >= 0)' "$work/watch.out"
ok 'foil-embed reads its checkpoint' \
    foil-embed -o "$work/h.npy" "$work/spectral" "$data"
ok 'and foil-eval its loss' foil-eval loss "$work/spectral" "$data"

# as if it had been killed after its first epoch
cp -r "$work/spectral" "$work/killed"
rm -r "$work"/killed/{step-00000008,latest}
ln -s step-00000004 "$work/killed/latest"
ok 'a run of trainer.py goes on from a checkpoint' \
    foil run --resume -r "$work/killed"
ok 'to the same weights' \
    cmp "$work"/{spectral,killed}/latest/model.safetensors
ok 'with no step twice' all killed
ok 'an option that it does not know: 2' refuses 2 \
    "^trainer.py: no option '--optim'" "$python" "$examples/trainer.py" \
    -r "$work/killed" --optim lars

# README's lines that load the encoder of its own command
cd "$work" || exit
foil run simclr data.tar -r run/photos --epochs 1 --batch 32 --augment '--size 16' \
    2>"$work/photos.said" || cat "$work/photos.said"
foil-embed -o h.npy run/photos data.tar 2>/dev/null
foil-embed --raw --size 16 -o raw.npy data.tar 2>/dev/null
{
    sed -n '/^    import foil, torch, torchvision/,/^$/s/^    //p' \
        "$examples/../../README.md"
    cat <<'end'
x = torch.from_numpy(foil.features("raw.npy").x).view(-1, 16, 16, 3)
x = (x - torch.tensor(foil.ENCODER["mean"])) / torch.tensor(foil.ENCODER["deviation"])
h = net.eval()(x.permute(0, 3, 1, 2)).detach().numpy()
off = abs(h - foil.features("h.npy").x).max() / abs(h).max()
print("off by", off)
assert off < 1e-4
end
} >load.py
ok 'README loads the encoder of its command into torchvision, four lines' \
    test "$(grep -c . load.py)" -eq 10
ok 'which has the features of foil-embed' \
    env PYTHONPATH="$examples" "$python" load.py

example loader --epochs 2 --batch 16 --size 8 "$data"
ok 'loader.py, an ordinary loop' ended loader
ok 'has a line of each epoch' test "$(grep -c '^epoch' "$work/loader.out")" -eq 2
done_testing
