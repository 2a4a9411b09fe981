#!/bin/sh
# usage: pace.sh DATA OPTION... : images in a second of 32 steps of learn, with its options
set -eu
data=$1
shift
# shellcheck source=pipelines/bin/study.sh
. "$FOIL_PIPELINES/bin/study.sh"
pace=$RUN/pace
(
    enter_run "$pace"
    export COMPARE=
    learn --train.steps 32 "$@" "$data"
) >&2
sed -n 's/.*"images":\([0-9]*\).*"time":\([0-9.]*\).*/\1 \2/p' "$pace/metrics.jsonl" |
    awk 'NR == 1 { images = $1; time = $2 }
        END { printf "%.3g\n", ($1 - images) / ($2 - time) }'
rm -rf "$pace"
