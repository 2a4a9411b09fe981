#!/bin/bash
# usage: tails-result.sh RUN : rank correlations in its temperature.json and anchors.json
set -eu -o pipefail
run=$1

# number FILE KEY NAME : the first of that key, after "median" if it has a spread
number() {
    sed -nE "s/.*\"$2\":(\{[^}]*\"median\":)?([^,}]*).*/$3\t\2/p" "$run/$1" | head -n 1
}
number temperature.json class_spearman 'class correlation'
number anchors.json group_size_exact 'exact class correlation'
number anchors.json learnt_over_exact 'learnt over exact'
number anchors.json learnt_exact 'learnt with exact'
