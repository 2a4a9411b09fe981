#!/bin/bash
# usage: seconds.sh RUN
#
# What a run took, passes for features between its steps and all; a pause of more
# than a minute, as of a run that was interrupted, does not count.
fields() {
    sed -n 's/.*"'"$1"'":"\{0,1\}\([^],}"]*\).*/\1/p'
}
paste <(fields time <"$1/metrics.jsonl") <(fields seconds <"$1/metrics.jsonl") |
    awk '{
        passed = $1 - last
        sum += last && passed < 60 ? passed : $2
        last = $1
    }
    END { printf "seconds\t%.1f\n", sum }'
