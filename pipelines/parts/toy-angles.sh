#!/bin/bash
# usage: toy-angles.sh RUN BATCHES
#
# For all steps of a run of the toy, the smallest distance of an image from its axis;
# its checkpoints have only the table.
set -eu -o pipefail
run=$1 batches=$2
for folder in "$run"/step-*; do
    tail -c 64 "$folder/model.safetensors" | od -An -v -t f4 -w16 |
        awk -v step="$((10#${folder##*-} / batches))" '
            function turn(x, y) {
                return atan2(y < 0 ? -y : y, x < 0 ? -x : x)
            }
            {
                t = turn($1, $2)
                least = NR == 1 || t < least ? t : least
                all = all "\t" t
            }
            END { print step "\t" least all }'
    [[ $folder -ef $run/latest ]] || rm -r "$folder"
done
