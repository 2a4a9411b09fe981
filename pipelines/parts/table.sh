#!/bin/bash
# usage: table.sh STUDY MEASURE BASE FORMAT PRIMARY PARTS
set -eu -o pipefail
studies=${0%/*}/../studies
awk -F '\t' -v measure="$2" -v base="$3" -v format="$4" -v primary="$5" \
    -v parts="$6" -f "$studies/verdict.awk" -f "$studies/table.awk" \
    "$1/results.tsv" | tee -a "$1/table.txt"
