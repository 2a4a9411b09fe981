#!/bin/sh
# usage: learn-steps.sh STEPS BATCHES OPTION... DATA
#
# Trains for so many steps, with a cosine schedule that ends with them, and
# these options of learn; after a warm-up of one epoch of DATA, or of half of all steps
# if that is fewer.  An epoch of the method's plan has BATCHES batches.
set -eu
steps=$1 per=$2
shift 2
for data; do :; done
all=$("$PARTS/batches.sh" "$data" "$BATCH")
plan=$(awk -v steps="$steps" -v per="$per" -v all="$all" 'BEGIN {
    rise = all < steps / 2 ? all : steps / 2
    fall = (steps - rise) / per > 0.01 ? (steps - rise) / per : 0.01
    print "--steps " steps " --warmup " rise / per " --schedule cosine:" fall
}')
exec learn --epochs $(((steps + per - 1) / per)) --train "$plan" "$@"
