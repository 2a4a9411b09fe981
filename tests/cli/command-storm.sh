#!/usr/bin/env bash
# 32 random kill -9 of stages with user commands and of the commands, with stops and
# clock jumps between them.  A thorough run: STORM=1000 PAUSE=10-60.
# Not for sanitizers: storm.sh has the same stages.
# Mostly waits, 25 s
exec /usr/bin/python3 "${0%/*}/../storm.py" --commands --kills 32
