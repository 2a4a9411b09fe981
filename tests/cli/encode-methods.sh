#!/usr/bin/env bash
# The methods of pipelines/python/methods on Fashion-MNIST: each learns, resumes to the
# byte after two kills, and has the same losses with two ranks.
# Not for sanitizers: programs in Python; encoder.sh has their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
fashion=/usr/share/datasets/fashion-mnist/train
if [[ ! -e $fashion-images-idx3-ubyte.gz ]]; then
    skip 'methods in PyTorch' 'no dataset-fashion-mnist'
    done_testing
fi
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/encoders.sh
. "${0%/*}/../encoders.sh"
data=$work/fashion.tar
foil-data import -n 512 -o "$data" idx "$fashion"-{images-idx3,labels-idx1}-ubyte.gz \
    2>/dev/null
foil-data index "$data" 2>/dev/null
program=${program/encoders.py/methods.py}
augment_with=(--size 16) select_with=(--batch 32 --epochs 12)
how=(--objective external --optim adamw --schedule constant)
train_with=("${how[@]}" --lr 2e-3 --checkpoint-every 40)

# labelled DATA PATH : trains on DATA with the labels of PATH
labelled() {
    local data=$1
    trained bad --encoder "$program supcon $2"
}
ok 'labels of another data set exit with 1' refuses 1 \
    'is not the data set of this run' labelled "$data" data.tar
mkdir plain
tar xf data.tar -C plain --wildcards '*.jpg'
foil-data index plain 2>/dev/null
ok 'labels of images without labels exit with 1' refuses 1 'no image has a label' \
    labelled plain plain

# learns RUN : in the last 64 of 192 steps the loss is lower, and more rows are next to one
# of their class, than in the first 32; the embeddings have not collapsed
learns() {
    jq -es 'def of(f): map(f) | add / length;
        .[:32] as $first | .[128:] as $last | length == 192 and
        ($last | of(.loss)) < ($first | of(.loss)) - 0.1 and
        ($last | of(.same)) > ($first | of(.same)) + 0.01 and
        ($last | of(.spread // .entropy)) > 0.4' "$work/$1/metrics.jsonl"
}

for method in byol simsiam moco swav dino supcon; do
    start_job "$method-calm" torch "$method-calm" "$method $data"
    start_job "$method-killed" trained_killed "$method-killed" "70 130 192" \
        --encoder "$program $method $data"
    ok "$method: an undisturbed run succeeds" job_ok "$method-calm"
    ok "$method: it learns" learns "$method-calm"
    ok "$method: a run with two kills of the trainer succeeds" job_ok "$method-killed"
    ok "$method: the killed run has the same losses" \
        diff <(timeless "$method-calm") <(timeless "$method-killed")
    ok "$method: the killed run has the same checkpoint, to the byte" \
        diff -r "$method-calm/latest/" "$method-killed/latest/"
done

# with a high learning rate, rounding errors grow tenfold in each step
train_with=("${how[@]}" --lr 1e-6 --steps 8)
for method in byol simsiam moco swav dino supcon; do
    ok "$method: one rank trains" torch "$method-one" "$method $data 1"
    # ranks start themselves, so the warm Python cannot fork them
    program="/usr/bin/python3 '${encoders/encoders.py/methods.py}'" \
        ok "$method: two ranks train" torch "$method-two" "$method $data 2"
    ok "$method: two ranks have the losses of one" alike "$method"-{one,two}
done
done_testing
