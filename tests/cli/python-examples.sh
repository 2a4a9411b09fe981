#!/usr/bin/env bash
# The examples of pipelines/python, each in its stage.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
examples=$(cd "${0%/*}/../../pipelines/python" && pwd)
export PATH=$BIN:$PATH OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

if ! has_python numpy; then
    skip 'programs in Python' 'no python3-numpy'
    done_testing
fi
data=$work/data.tar
# small ones: an encoder in PyTorch is a ResNet-18
foil-data generate --size 16 -o "$data" 64 2>/dev/null
foil-data index "$data" 2>/dev/null

# example NAME WORD... : a command line with one of them, in a process of its own
example() {
    printf "/usr/bin/python3 '%s/%s.py'" "$examples" "$1"
    shift
    [[ $# -eq 0 ]] || printf " '%s'" "$@"
}

# all RUN : two epochs of four steps are trained, each with a finite loss
all() {
    jq -se 'map([.epoch, .step]) == [range(8) | [(. / 4 | floor), . % 4]] and
        all(.[]; .loss | isnormal)' "$work/$1/metrics.jsonl"
}

modules=(numpy)
! has_python torch torchvision PIL || modules+=(torch torchvision PIL)
warm "${modules[@]}"

view=()
if has_python torchvision PIL; then
    view=(--view-command "$(example augmenter)")
else
    skip 'augmenter.py' 'no python3-torchvision'
fi
mkdir -m 700 "$work/c"
"$python" "$examples/watch.py" "$work/c" "$data" >"$work/watch" 2>"$work/watched" &
watch=$!
timeout "$patience" foil-train -r "$work/c" --arch linear --head 8 --threads 1 \
    --objective emc2 --keep-features 1 2>"$work/train" &
train=$!
ok 'a listener in Python is connected' becomes_true is_heard c
foil-select -r "$work/c" -b 16 -e 2 --lag 0 --strategy-command \
    "$(example curriculum "$data")" "$data" 2>"$work/select" &
select=$!
foil-negatives -r "$work/c" --weigh-command "$(example sampler 4)" \
    2>"$work/negatives" &
negatives=$!
foil-augment -r "$work/c" --size 16 "${view[@]}" "$data" 2>"$work/augment" &
augment=$!
trained() {
    wait "$train" && return
    kill "$select" "$augment" "$watch"
    cat "$work"/{train,select,augment,negatives,watch,watched}
    return 1
}
ok 'views, batches and negatives of examples' trained
ok 'all steps are trained' all c
ok 'with what the sampler says' jq -e .hardest "$work/c/metrics.jsonl"
ok 'the selector ends with the run' wait "$select"
ok 'so does the augmenter' wait "$augment"
kill "$negatives"
ok 'watch.py ends with the run' wait "$watch"
ok 'and has an accuracy of each epoch' jq -se \
    'map(.epoch) == [1, 2] and all(.[]; .knn1 >= 0)' "$work/watch" ||
    sed 's/^/# /' "$work/watched"
if ! has_python torch torchvision; then
    skip 'examples in PyTorch' 'no python3-torch'
    done_testing
fi

# README's lines that load the encoder of its own command, and fine-tune it
cd "$work" || exit
foil run simclr data.tar -r run/photos --epochs 1 --batch 32 --augment '--size 16' \
    2>"$work/photos.said" || cat "$work/photos.said"
foil-embed --export encoder/ run/photos 2>/dev/null
foil-embed --raw --size 16 -o raw.npy data.tar 2>/dev/null
sed -n '/^    import torch$/,/^$/s/^    //p' "$examples/../../README.md" >readme.py
{
    echo 'import foil, torch
x = torch.from_numpy(foil.features("raw.npy").x).view(-1, 16, 16, 3)
about = foil.checkpoint("run/photos").config["encoder"]
x = (x - torch.tensor(about["mean"])) / torch.tensor(about["deviation"])
x, y = x.permute(0, 3, 1, 2), torch.arange(len(x)) % 10'
    cat readme.py - <<'end'
first = torch.nn.functional.cross_entropy(net(x), y)
for _ in range(4):
    optim.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optim.step()
print("from", first, "to", loss)
assert loss < first
end
} >load.py
ok 'README opens and fine-tunes the encoder of its command, five lines' \
    test "$(wc -l <readme.py)" -eq 5
ok 'which learns' env PYTHONPATH="$examples" "$python" load.py

ok 'loader.py, an ordinary loop' timeout 200 "$python" "$examples/loader.py" \
    --epochs 2 --batch 16 --size 8 "$data"
ok 'has a line of each epoch' test "$(grep -c '^epoch' out)" -eq 2
done_testing
