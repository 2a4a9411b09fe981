# shellcheck shell=bash
#
# Sourced by tests that make arrays of a few numbers without Python.

# npy FILE DESCR SHAPE HEX... : write an array; HEX are its bytes, low one first
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

# int N : prints a small integer as i8 in HEX
int() {
    printf '%02x00000000000000' "$1"
}
