#!/usr/bin/env bash
# 48 random kill -9, four runs of 12; STORM=1000 for a storm that is worth the name.
# Mostly waits, 40 s
exec /usr/bin/python3 "${0%/*}/../storm.py" "${STORM:-48}" "${SEED:-1}"
