#!/usr/bin/env bash
# Study: retrieval and nearest neighbours after training on hard batches.
#
# SimCLR and SogCLR on --images images of TRAIN, with batches by each strategy.
# First all are trained on as many images, --epochs times all (equal epochs);
# then those that took longer or shorter for it than random batches once more,
# for as long as these took (equal time).  Judged on TEST: how often the second
# view of an image is the one nearest to its first view, among all others
# (R@1), and nearest neighbours and a linear probe, taught on the images; and by
# the loss over all pairs of --pairs of these, which hard batches are to lower.
# With --corrupted also how often, among corrupted versions of an image, which
# differ in the kind of corruption alone, a version finds its second view.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}/..}/lib.sh"

threads=1 batch=32 epochs=10 images=10240 tau=0.1 protocols=epochs,time
corrupted=0 severity=1 pairs=1024
own=('images N how many of TRAIN; 0: all' 'tau X temperature'
    'corrupted N images of TEST that are corrupted in 19 ways; 0: none'
    'severity N of the corruption, 1 to 5'
    'pairs N images of these of which the loss over all pairs is taken; 0: all'
    'protocols LIST epochs, time')
primary=R@1
# shellcheck source=pipelines/studies/lib.sh
. "$library/studies/lib.sh"
warmup=1
train=('--arch resnet20' '--head 128-64' '--precision auto' '--optim adam'
    '--lr 0.001' '--checkpoint-every 0')
# shellcheck disable=SC2034 # lib.sh reads it
augment=('--recipe cifar' '--size 32' '--cache 200')

# strategy NAME SELECT : a method of that for each objective
strategy() {
    local o
    for o in simclr sogclr; do
        method "$o-$1" "$o" select="$2"
    done
}

draws=4 # of osgd
strategy shuffle '--strategy shuffle'
strategy spectral '--strategy spectral --lag 1'
strategy swap '--strategy swap --block 40 --lag 1'
strategy swap-.5 '--strategy swap --block 40 --hardness 0.5 --lag 1'
strategy swap-apart '--strategy swap --block 40 --lag 1' # and --avoid, below
strategy osgd "--strategy osgd --draws $draws --top 1 --features eval --lag 0"
options 'TRAIN TEST' "$@"
open_study "$images" "$epochs" "$batch" "$tau" "$draws" "$corrupted" "$severity" \
    "$pairs"
common_train+=("--tau $tau")
common_select+=("--tau $tau")
subset "${operand[0]}" "$images"

# images that look alike, which are no negatives of each other, are kept apart:
# 7 of 100 of CIFAR-10 with these limits
groups=$study/groups.npy
if [[ $methods == *-apart* ]]; then
    [[ -e $groups ]] ||
        step foil-data group --by duplicate --bits 14 --levels 26 \
            -o "$groups" "$part"
    for name in simclr sogclr; do
        said_of[$name-swap-apart.select]+=" --avoid $groups"
    done
fi

paired=$part
if [[ $pairs -gt 0 && $pairs -lt $(samples_in "$part") ]]; then
    paired=$study/paired.foil
    [[ -e $paired ]] || step foil-data split -n "$pairs" "$part" "$paired" \
        "$study/unpaired.foil"
fi

all=$(batches_of "$part")
top=$study
# those of each objective, in each protocol
# shellcheck disable=SC2034 # lib.sh reads it
parts=$(tr , '\n' <<<"$protocols" | wc -l)
[[ $methods != *simclr-* || $methods != *sogclr-* ]] || parts=$((2 * parts))
damaged=$study/damaged.tar within=$study/within.npy
if [[ $corrupted -gt 0 && ! -e $within ]]; then
    indexed "${operand[1]}"
    step foil-data split -n "$corrupted" "${operand[1]}" "$study/some.foil" \
        "$study/others.foil"
    step foil-data corrupt -k all --severity "$severity" -o "$damaged" \
        "$study/some.foil"
    indexed "$damaged"
    step foil-data group --by file -o "$within" "$damaged"
fi

# retrieved MEASURE DATA OPTION... : how often a first view finds its
# second
retrieved() {
    local view
    for view in 0 1; do
        features "view$view" "$2" --layer z --recipe cifar --view "$view"
    done
    step foil-eval retrieve "${@:3}" "$run"/embedded/view{0,1}.npy \
        >"$run/pairs.json"
    result "$1" "$(sed 's/.*"forward":{"r1":\([^,]*\),.*/\1/' "$run/pairs.json")"
}

# full_loss : that of all pairs of images, not of those in one batch
full_loss() {
    local line value
    line=$(step foil-eval loss --tau "$tau" --seed "$seed" \
        --threads "$threads" "$run/latest" "$paired")
    field loss "$line"
    result loss "$value"
}

# trial METHOD : of $steps_of[METHOD] steps
trial() {
    local per=$all
    [[ $1 != *-osgd ]] || per=$((($(samples_in "$part") / batch + draws - 1) / draws))
    fit_steps "$1" "$part" "${steps_of[$1]}" "$per"
    judge_run "$part" "${operand[1]}"
    full_loss
    retrieved R@1 "${operand[1]}"
    [[ $corrupted -eq 0 ]] ||
        retrieved 'R@1 corrupted' "$damaged" --within "$within"
}

# tables : of each objective what was measured in $study
tables() {
    local every=$methods methods=$methods o measure
    gather
    for o in simclr sogclr; do
        methods=$(tr , '\n' <<<"$every" | grep "^$o-" | paste -sd , -) || continue
        mv "$study/results.tsv" "$study/all.tsv"
        grep "^$o-" "$study/all.tsv" >"$study/results.tsv"
        for measure in R@1 'R@1 corrupted' loss 1-NN probe seconds; do
            cut -f 3 "$study/results.tsv" | grep -qx "$measure" || continue
            table "$measure" "$o-shuffle"
        done
        mv "$study/all.tsv" "$study/results.tsv"
    done
}

# same_time : what took as long as random batches counts as it is, the others
# get steps_of[METHOD] so that they will; the fastest of each method's runs
# counts, for the machine may be shared
same_time() {
    local name ratio i
    study=$top/epochs
    gather
    study=$top/time
    while read -r name ratio; do
        steps_of[$name]=$(work "int($epochs * $all / $ratio)")
        [[ $ratio == 1 ]] || continue
        for ((i = seed; i < seed + seeds; i++)); do
            ln -sfn "../epochs/$name-$i" "$top/time/$name-$i"
        done
    done < <(awk '$3 == "seconds" && (!($1 in least) || $4 < least[$1]) {
            least[$1] = $4
        }
        END {
            for (name in least) {
                base = name
                sub(/-.*/, "-shuffle", base)
                x = base in least ? least[name] / least[base] : 1
                if (x > 0.95 && x < 1.05)
                    x = 1
                print name, x
            }
        }' "$top/epochs/results.tsv")
}

for protocol in ${protocols//,/ }; do
    study=$top/$protocol
    mkdir -p "$study"
    if [[ $protocol == epochs ]]; then
        for name in ${methods//,/ }; do
            steps_of[$name]=$((epochs * all))
        done
    else
        same_time
    fi
    each trial
    echo "equal $protocol: $images images, batches of $batch, $epochs epochs" \
        'of shuffled ones'
    echo
    tables
done
