#!/bin/bash
# usage: accuracies.sh RUN : accuracies of neighbours and of a probe in RUN/judged.jsonl
paste <(printf '%s\n' 1-NN 10-NN probe) \
    <(sed -n 's/.*"accuracy":"\{0,1\}\([^],}"]*\).*/\1/p' "$1/judged.jsonl")
"${0%/*}/seconds.sh" "$1"
