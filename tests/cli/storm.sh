#!/usr/bin/env bash
# Fifty random kill -9; STORM=1000 for a storm that is worth the name.
exec /usr/bin/python3 "${0%/*}/../storm.py" "${STORM:-50}" "${SEED:-1}"
