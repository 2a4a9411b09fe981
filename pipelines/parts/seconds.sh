#!/bin/bash
# usage: seconds.sh RUN
#
# The time of a run, including passes for features between its steps; a pause of more
# than a minute, such as an interruption, does not count.
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
