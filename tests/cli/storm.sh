#!/usr/bin/env bash
# 48 random kill -9, four runs of 12, with stops and clock jumps between them.  A thorough
# run: STORM=1000 PAUSE=10-60.
# Not for sanitizers: kills are in faults.sh.
# Mostly waits, 40 s
exec /usr/bin/python3 "${0%/*}/../storm.py" --kills 48
