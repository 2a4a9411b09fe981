#!/usr/bin/env bash
# The examples of pipelines/python, each in a stage.
# Not for sanitizers: programs in Python; encoder.sh and *-command.sh have their stages.
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
# small images: the encoder in PyTorch is a ResNet-18
foil-data generate --size 16 -o "$data" 64 2>/dev/null
foil-data index "$data" 2>/dev/null

# example NAME WORD... : prints a command line for one of the examples
example() {
    printf "/usr/bin/python3 '%s/%s.py'" "$examples" "$1"
    shift
    [[ $# -eq 0 ]] || printf " '%s'" "$@"
}

# all RUN : two epochs of four steps are trained, with finite losses
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
ok 'a subscriber in Python connects' becomes_true has_subscriber c
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
ok 'a run with views, batches and negatives of examples succeeds' trained
ok 'a run with examples trains all steps' all c
ok 'metrics have the value of the sampler' jq -e .hardest "$work/c/metrics.jsonl"
ok 'the selector exits with 0 at the end' wait "$select"
ok 'the augmenter exits with 0 at the end' wait "$augment"
kill "$negatives"
ok 'watch.py exits with 0 at the end' wait "$watch"
ok 'watch.py prints an accuracy for each epoch' jq -se \
    'map(.epoch) == [1, 2] and all(.[]; .knn1 >= 0)' "$work/watch" ||
    sed 's/^/# /' "$work/watched"

# each command of foil.py in the user's folder; foil makes foil.py importable
cd "$work" || exit
cp "$examples"/{curriculum,sampler}.py .
cat >view.py <<'end'
import foil
foil.make_views(lambda image, size, rng: rng.permutation(image.reshape(-1, 3)).reshape(
    -1, size, 3)[:size])
end
cat >judge.py <<'end'
import json, foil
def judge(folder, step):
    with open(folder + "/config.json") as f:
        return {"total": json.load(f)["state"]["total"], "asked": step}
foil.judge_checkpoints(judge)
end
cat >encode.py <<'end'
import foil, torch
torch.set_num_threads(1)
foil.encode(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 16, 8)))
end
encoder='--arch linear --head 8'
if has_python torch; then
    encoder='--encoder "python3 encode.py"'
else
    skip 'encode() by foil run' 'no python3-torch'
fi
# the judge ends after the last checkpoint
cat >all.list <<end
judge      main  never     foil-eval follow -r \$RUN --eval-command "python3 judge.py"
train      1     never     foil-train -r \$RUN $encoder --threads 1 --objective emc2 \
                           --keep-features 1 --checkpoint-every 4
negatives  1     killed,3  foil-negatives -r \$RUN --weigh-command "python3 sampler.py 4"
augment    1     killed,3  foil-augment -r \$RUN --size 16 --view-command "python3 view.py" \
                           $data
select     1     killed,3  foil-select -r \$RUN -b 16 -e 2 --lag 0 \
                           --strategy-command "python3 curriculum.py $data" $data
end
ok 'foil run starts each command of foil.py' env -u PYTHONPATH PATH="$BIN:/usr/bin:$PATH" \
    timeout 200 foil run ./all.list -r each
ok 'a run with commands of foil.py trains all steps' all each
ok 'metrics have the value of the sampler of foil.py' jq -e .hardest each/metrics.jsonl
ok 'each checkpoint has a result of the judge' jq -se \
    'length > 0 and all(.[]; .total == .step and .asked == .step) and last.step == 8' \
    each/results.jsonl
ok 'a judge without accuracy chooses no best' test ! -e each/best

if ! has_python torch torchvision; then
    skip 'loader.py' 'no python3-torch'
    done_testing
fi
ok 'loader.py trains in an ordinary loop' timeout 200 "$python" "$examples/loader.py" \
    --epochs 2 --batch 16 --size 8 "$data"
ok 'loader.py prints a line for each epoch' test "$(grep -c '^epoch' out)" -eq 2
done_testing
