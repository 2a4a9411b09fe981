# shellcheck shell=bash
#
# Sourced by tests that make arrays of a few numbers without Python.

# npy FILE DESCR SHAPE HEX... : an array, its items as bytes, low one first
npy() {
    local file=$1 head hex
    head=$(printf "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" \
        "$2" "$3")
    shift 3
    hex=$(printf %s "$@" | sed 's/../\\x&/g')
    {
        printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$head"
        printf %b "$hex"
    } >"$file"
}

# int N : a small whole number as i8
int() {
    printf '%02x00000000000000' "$1"
}
