#!/usr/bin/env bash
# foil-train-mpi: 6 kills of ranks at random moments; STORM=200 for more.
# Not for sanitizers: MPI does not give all of its memory back
# Mostly waits, 40 s
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

if [[ ! -x $BIN/foil-train-mpi ]] || ! command -v mpirun >/dev/null; then
    skip 'kills of ranks' 'no foil-train-mpi, or no mpirun'
    done_testing
fi
exec /usr/bin/python3 "${0%/*}/../ranks_storm.py"
