#!/bin/bash
# usage: equal-epochs.sh METHODS EPOCHS BATCHES : the steps of each
for name in ${1//,/ }; do
    echo "$name $(($2 * $3))"
done
