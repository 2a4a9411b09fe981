#!/usr/bin/env bash
# Train and evaluate on Fashion-MNIST, in less than four minutes.
#
# On two cores with AVX2; in less than two with AVX-512.  Prints the commands that it
# runs.  Leaves a table of accuracies and what it says in words as table.txt, the loss
# as loss.png, pairs of views as sheet.png, test images beside the labelled ones that
# are nearest to them as near.png.  The encoder is compared with raw pixels of two
# sizes and with itself before training, all four by the same protocol: labelled
# images teach, those of the test set are classified.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads it
shows=yes
epochs=4 batch=128 images=60000 labelled=5000 test=10000
# shellcheck disable=SC2034 # lib.sh reads them
own=('images N images to learn from'
    'labelled N labelled images that teach 10-NN and probe'
    'test N images of the test set to classify')
# shellcheck disable=SC2034
augment=('--size 20' "--recipe cifar,scale-min=0.4,jitter=1,brightness=0.9,\
contrast=0.9,saturation=0,hue=0,grey=0")
train=('--arch resnet8' '--width 16' '--head 256-128-bn' '--precision auto'
    '--lr 0.3' '--warmup 1' '--checkpoint-every 1000')
# shellcheck disable=SC2034
tuned=('--tau 0.1')
debian=/usr/share/datasets/fashion-mnist
classes=(T-shirt trousers pullover dress coat sandal shirt sneaker bag boot)

options '' "$@"
[[ -e $debian ]] || die 1 "no '$debian': apt-get install dataset-fashion-mnist"
fresh_run
began=$SECONDS

# import NAME COUNT PREFIX : the first COUNT of Debian's files as RUN/NAME.tar
import() {
    [[ ! -e $run/$1.tar.foil ]] || return 0
    step foil-data import -n "$2" --classes "$run/classes.txt" \
        -o "$run/$1.tar" idx \
        "$debian/$3-images-idx3-ubyte.gz" "$debian/$3-labels-idx1-ubyte.gz"
    step foil-data index "$run/$1.tar"
}

# measure KIND WHAT NAME OPTION... : a row of the table, from the features
# NAME; RUN/NAME.jsonl has the protocol of both numbers
measure() {
    local features=$run/embedded/$3
    features "$3-labelled" "$run/labelled.tar" "${@:4}"
    features "$3-test" "$run/test.tar" "${@:4}"
    step foil-eval knn -k 10 --threads "$threads" \
        "$features"-{labelled,test}.npy >"$run/$3.jsonl"
    step foil-eval probe --tolerance 0.001 --threads "$threads" \
        "$features"-{labelled,test}.npy >>"$run/$3.jsonl"
    sed 's/.*"accuracy":\([0-9.e-]*\).*/\1/' "$run/$3.jsonl" |
        paste -s - | sed "s/^/$1\t$2\t/" >>"$run/accuracies.tsv"
}

# neighbours : near.png, of ten test images, evenly spread over the set
neighbours() {
    local line features
    quote "$run/embedded"/trained-{labelled,test}.npy
    features=$line
    quote -o "$run/near.png" "$run"/{labelled,test}.tar
    pipe "foil-eval neighbours -k 8 $features | foil-data sheet --rows 10 $line"
}

prepare
printf '%s\n' "${classes[@]}" >"$run/classes.txt"
import train "$images" train
import labelled "$labelled" train
import test "$test" t10k
step foil-augment --sheet "$run/sheet.png" --seed "$seed" "${augment[@]/ /=}" \
    "$run/train.tar"
say "learns from $images images without their labels, $epochs epochs"
learn "$run/train.tar"
draw_loss

say "judges features on $test test images, taught by $labelled labelled ones"
rm -f "$run/accuracies.tsv"
measure pixels 'raw pixels (14x14)' raw14 --raw --size 14
measure pixels 'raw pixels (28x28)' raw28 --raw --size 28
measure untrained 'the untrained encoder' untrained --untrained --seed "$seed"
measure trained 'the trained encoder' trained
neighbours
awk -v epochs="$epochs" -v images="$images" -v labelled="$labelled" \
    -v test="$test" -f "$library/demo-table.awk" "$run/accuracies.tsv" |
    fmt -s -w 76 | tr '~' ' ' >"$run/table.txt"

echo
cat "$run/table.txt"
quote "$(type -P foil)"
cat <<END

It took $((SECONDS - began)) seconds.  In '$run':
  near.png       test images, each with the 8 labelled images that the encoder
                 finds nearest; green: of the same class
  sheet.png      images, each followed by two random views of it
  loss.png       how the loss fell
  table.txt      the above
  latest         the encoder, for foil-embed(1)
  trained.jsonl  the full protocol of its row; so for raw14, raw28, untrained

With images of your own: FOLDER has them, of each class in a folder by that name
if they have classes:
  $line run photos FOLDER
END
