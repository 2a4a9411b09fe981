#!/usr/bin/env bash
# The whole on Debian's Fashion-MNIST: what an encoder learns without labels.
#
# About three minutes on two cores.  Leaves a table of accuracies, the loss as
# loss.png, pairs of views as sheet.png.  The baselines are the pixels
# themselves and the same encoder before training; the protocol is the same
# for all three: 5,000 labelled images teach, 5,000 others ask.
# shellcheck source=pipelines/lib.sh
. "${0%/*}/lib.sh"

epochs=8 batch=128
# shellcheck disable=SC2034 # lib.sh reads them
augment=('--size 28' '--recipe cifar,scale-min=0.3,grey=0,hue=0,saturation=0')
train=('--arch resnet8' '--width 32' '--head 256-128-bn' '--precision bf16'
    '--tau 0.5' '--lr 0.3' '--warmup 1' '--checkpoint-every 500')
images=/usr/share/datasets/fashion-mnist

options '' "$@"
[[ -e $images ]] || die 1 "no '$images': apt-get install dataset-fashion-mnist"
fresh_run
began=$SECONDS

# import NAME COUNT PREFIX : the first COUNT of Debian's files as RUN/NAME.tar
import() {
    [[ ! -e $run/$1.tar.foil ]] || return 0
    step foil-data import -n "$2" -o "$run/$1.tar" idx \
        "$images/$3-images-idx3-ubyte.gz" "$images/$3-labels-idx1-ubyte.gz"
    step foil-data index "$run/$1.tar"
}

# measure NAME WHAT OPTION... : one row of the table
measure() {
    local name=$1 what=$2
    shift 2
    features "$name-train" "$run/labelled.tar" "$@"
    features "$name-test" "$run/test.tar" "$@"
    step foil-eval knn -k 10 "$run/embedded/$name"-{train,test}.npy \
        >"$run/$name.jsonl"
    step foil-eval probe --l2 0.01 --tolerance 0.001 \
        "$run/embedded/$name"-{train,test}.npy >>"$run/$name.jsonl"
    printf '%-24s' "$what"
    sed 's/.*"accuracy":\([0-9.e-]*\).*/\1/' "$run/$name.jsonl" |
        xargs printf '%10.3f %14.3f\n'
}

if [[ -z $resume ]]; then
    mkdir -p "$run"
    chmod 700 "$run"
fi
import train 20000 train
import labelled 5000 train
import test 5000 t10k
step foil-augment --sheet "$run/sheet.png" --seed "$seed" "${augment[@]/ /=}" \
    "$run/train.tar"
learn "$run/train.tar"
draw_loss

echo
printf '%-24s %10s %14s\n' 'features' '10-NN' 'linear probe'
measure raw 'raw pixels (14x14)' --raw --size 14
measure untrained 'untrained encoder' --untrained
measure trained "after $epochs epochs"
cat <<END

in $((SECONDS - began)) seconds; loss curve, pairs of views, checkpoints and the full
protocol of each number:
  $run/loss.png
  $run/sheet.png
  $run/latest
  $run/trained.jsonl
END
