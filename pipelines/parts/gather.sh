#!/bin/bash
# usage: gather.sh STUDY METHODS SEED SEEDS
for ((i = $3; i < $3 + $4; i++)); do
    for name in ${2//,/ }; do
        at=$1/$name-$i/result.tsv
        [[ ! -e $at ]] || sed "s/^/$name\t$i\t/" "$at"
    done
done
