#!/usr/bin/env bash
# Study: the temperatures that iSogCLR learns on a long tail.
#
# The classes of TRAIN are thinned out exponentially, to a hundredth of the
# first for the last (foil-data longtail); iSogCLR learns a temperature for each
# image of what is left, aiming at several rho, with a rate of the temperatures
# (eta) that lets them arrive in --epochs epochs, and with that of its paper.
# The tables say where temperatures and the divergence of the negatives (kl, to
# be rho) have come to, how they go with the size of an image's class, and how
# good the encoders are, beside those of other objectives at a fixed temperature:
# a probe and nearest neighbours, taught on the long tail, are asked about TEST.
# What the paper claims is a rank correlation of class size and temperature above
# 0, and accuracy.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}/..}/lib.sh"

threads=1 batch=128 epochs=20 factor=0.01
own=('factor X size of the last class over that of the first')
primary=probe
# shellcheck source=pipelines/studies/lib.sh
. "$library/studies/lib.sh"
train=('--arch resnet8' '--head 128-64' '--precision auto' '--optim adam'
    '--lr 0.001' '--warmup 1' '--checkpoint-every 0')
# shellcheck disable=SC2034 # lib.sh reads it
augment=('--recipe cifar' '--size 32' '--cache 200')

# learnt RHO ETA [TAU] : iSogCLR with these, from that temperature on
learnt() {
    method "rho-$1-eta-$2${3:+-tau-$3}" isogclr \
        train="--rho $1 --eta $2 --tau ${3-0.7} --gamma 0.8 --beta-u 0.5"
}
learnt 0.3 0.3
learnt 0.1 0.3
learnt 1 0.3
learnt 0.3 0.03
learnt 0.3 0.3 0.3
learnt 0.3 0.3 1
method sogclr sogclr train='--tau 0.3 --gamma 0.8'
method simclr simclr train='--tau 0.3'
method dcl dcl train='--tau 0.3'
method hcl hcl train='--tau 0.3'
method vicreg vicreg
method barlow barlow_twins

options 'TRAIN TEST' "$@"
open_study "$epochs" "$batch" "$factor"
tail=$study/tail.foil
indexed "${operand[0]}"
[[ -e $tail ]] ||
    step foil-data longtail --factor "$factor" -o "$tail" "${operand[0]}"

# last_kl : the mean of the last epoch, weighted by nothing
last_kl() {
    tail -n "$(batches_of "$tail")" "$run/metrics.jsonl" | fields kl |
        awk '{ sum += $1 } END { print sum / NR }'
}

trial() {
    fit "$1" "$tail"
    judge_run "$tail" "${operand[1]}"
    [[ ${objective_of[$1]} == isogclr ]] || return 0
    step foil-eval temperature --plot "$run/temperature.png" "$run/latest" \
        "$tail" >"$run/temperature.json"
    result kl "$(last_kl)"
    result spearman "$(first spearman <"$run/temperature.json")"
    result 'mean temperature' "$(first mean <"$run/temperature.json")"
}

# first KEY : its first value in the line of JSON on standard input
first() {
    grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d : -f 2
}

# temperatures : a line for each run of iSogCLR with the first seed
temperatures() {
    local name key file values
    printf '%-18s %6s %6s %6s %6s %6s %9s %21s\n' temperatures mean spread \
        least most kl spearman 'rare: all small large'
    for name in ${methods//,/ }; do
        file=$study/$name-$seed/temperature.json
        [[ -e $file ]] || continue
        values=()
        for key in mean deviation 0 1; do
            values+=("$(first "$key" <"$file")")
        done
        values+=("$(sed -n 's/^kl\t//p' "$study/$name-$seed/result.tsv")")
        for key in spearman share among_small among_large; do
            values+=("$(first "$key" <"$file")")
        done
        printf '%-18s %6.3f %6.3f %6.3f %6.3f %6.3f %9.3f %9.3f %5.3f %5.3f\n' \
            "$name" "${values[@]}"
    done
    cat <<'END'
kl: mean of the last epoch, to be rho.  spearman: rank correlation of the size
of an image's class with its temperature.  rare: share of the images in classes
smaller than the median one, among all and among the 600 with the smallest and
with the largest temperatures.

END
}

# by_class : the mean temperature of each class
by_class() {
    local name file
    printf '%-12s %6s' class size
    for name in ${methods//,/ }; do
        [[ ! -e $study/$name-$seed/temperature.json ]] ||
            printf ' %16s' "$name"
    done
    printf '\n'
    for name in ${methods//,/ }; do
        file=$study/$name-$seed/temperature.json
        [[ ! -e $file ]] || sed 's/{"class":/\n/g' "$file" | sed 1d | sed -n \
            's/"\([^"]*\)","size":\([0-9]*\),"mean":\([0-9.]*\).*/\1\t\2\t\3/p'
    done | awk -F '\t' '
        !($1 in line) {
            order[++classes] = $1
            line[$1] = sprintf("%-12s %6d", $1, $2)
        }
        { line[$1] = line[$1] sprintf(" %16.4f", $3) }
        END {
            for (i = 1; i <= classes; i++)
                print line[order[i]]
        }'
    printf '\n'
}

each trial
gather
{
    echo "$(samples_in "$tail") images, batches of $batch, $epochs epochs"
    echo
    temperatures
    by_class
} | tee -a "$study/table.txt"
table spearman
table 'mean temperature'
table kl
table probe simclr
table 1-NN simclr
