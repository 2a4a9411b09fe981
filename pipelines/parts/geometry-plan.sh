#!/bin/bash
# usage: geometry-plan.sh METHOD N STEPS POINTS batch|epochs|batches|select|train
#
# What a step of a method is: the size of a batch, batches and epochs of all steps,
# options of the selector and of the trainer.
# shellcheck disable=SC2034 # printed by their names
set -eu
method=$1 n=$2 steps=$3 points=$4 select=''
batch=2 batches=$((n / 2)) of_step=1
case $method in
full*) batch=$n batches=1 ;;
pairs*)
    batches=$((n * (n - 1) / 2))
    select="--strategy osgd-full --draws $batches --top $batches --features eval --lag 0 --tau 1" ;;
osgd) of_step=$batches select="--draws $((n * (n - 1) / 2))" ;;
esac
[[ $method != *-end ]] || steps=$((4 * steps))
train="--checkpoint-every $((batches * (steps > points ? steps / points : 1)))"
[[ $method != pairs* ]] || train+=" --accumulate $batches"
epochs=$((steps * of_step))
declare -n wanted=$5
echo "$wanted"
