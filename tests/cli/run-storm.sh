#!/usr/bin/env bash
# foil run, the shell of its script, learn and stages are killed at random: the run has
# the result of an undisturbed one, and no process is left.  RUN_STORM=N kills more.
# Not for sanitizers: storm.sh kills the same stages.
# Mostly waits, 25 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck disable=SC2154 # tests/tap.sh sets it
export TMPDIR=$work
ok 'a pipeline with killed processes has the same result' \
    /usr/bin/python3 "${0%/*}/../run_storm.py" \
    --kills "${RUN_STORM:-10}" --seed "${SEED:-1}"
done_testing
