#!/bin/bash
# usage: gradient-curves.sh RUN TAU RECIPE SEED THREADS DATA AVERAGE
#
# Writes RUN/curve.tsv, measurements of each checkpoint, and mean.tsv, by the mean of the
# weights if it has one; then removes the checkpoint.  Prints results of the last.
set -eu -o pipefail
run=$1 tau=$2 recipe=$3 seed=$4 threads=$5 part=$6 average=$7

# work EXPRESSION : its value
work() {
    awk "BEGIN { print (${1//$'\n'/ }) }"
}

# field NAME LINE : sets value to its first one
field() {
    value=''
    [[ ! $2 =~ \"$1\":\"?([^],}\"]*) ]] || value=${BASH_REMATCH[1]}
}

result() {
    printf '%s\t%s\n' "$1" "$2"
}

# measured CHECKPOINT [OPTION] : its exact loss, squared gradient, the same as
# released, and scale-free
measured() {
    local line value loss square released
    line=$(foil-eval loss --tau "$tau" --views 2 --recipe "$recipe" \
        --seed "$seed" --threads "$threads" "${@:2}" "$1" "$part")
    field loss "$line"
    loss=$value
    field square_gradient "$line"
    square=$value
    field square_gradient "${line#*'"released"'}"
    released=$value
    field square_weight "$line"
    printf '%s\t%s\t%s\t%s\n' "$loss" "$square" "$released" \
        "$(work "$square * $value")"
}

printf '# step\tloss\tsquared gradient\tthe same as released\tscale-free\n' |
    tee "$run/mean.tsv" >"$run/curve.tsv"
for folder in "$run"/step-*; do
    at=$((10#${folder##*-}))
    printf '%d\t%s\n' "$at" "$(measured "$folder")" >>"$run/curve.tsv"
    [[ ! -e $folder/average.safetensors ]] || printf '%d\t%s\n' "$at" \
        "$(measured "$folder" --average)" >>"$run/mean.tsv"
    [[ $folder -ef $run/latest ]] || rm -r "$folder"
done

# results PREFIX : the measurements, by name
results() {
    local loss gradient released free
    read -r loss gradient released free
    result "$1loss" "$loss"
    result "$1squared gradient" "$gradient"
    result "$1log10 of it" "$(work "log($gradient) / log(10)")"
    result "$1scale-free" "$free"
    result "$1log10 of scale-free" "$(work "log($free) / log(10)")"
    [[ $1 ]] || result 'squared gradient as released' "$released"
}
tail -n 1 "$run/curve.tsv" | cut -f 2- | results ''
[[ $(work "$average > 0") -eq 0 ]] ||
    tail -n 1 "$run/mean.tsv" | cut -f 2- | results 'mean: '
