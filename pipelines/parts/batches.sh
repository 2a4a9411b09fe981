#!/bin/sh
# usage: batches.sh DATA BATCH : number of batches of an epoch
set -eu
n=$("${0%/*}/samples.sh" "$1")
echo $(((n + $2 - 1) / $2))
