#!/usr/bin/env bash
# 10^5 steps: memory and descriptors of trainer, selector and augmenter do not grow;
# STEPS=1000000 for more.
# Trains a study's number of steps, in two minutes
exec /usr/bin/python3 "${0%/*}/../growth.py" ${STEPS:+--steps "$STEPS"}
