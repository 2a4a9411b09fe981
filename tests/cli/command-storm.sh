#!/usr/bin/env bash
# 32 random kill -9 of stages with a command behind each in turn, and of the
# commands, with stops and clock jumps between them; STORM=1000 PAUSE=10-60 for one
# that is worth the name.
# Not for sanitizers: storm.sh has the same stages.
# Mostly waits, 25 s
exec /usr/bin/python3 "${0%/*}/../storm.py" --commands --kills 32
