#!/bin/bash
# usage: toy-rows.sh FILE : initial rows of the toy, as an array
set -eu -o pipefail

# npy ROWS COLUMNS : numbers on standard input as an array of f4
npy() {
    local head="{'descr': '<f4', 'fortran_order': False, 'shape': ($1, $2), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$head"
    printf '%b' "$(awk '{
        for (i = 1; i <= NF; i++) {
            x = $i < 0 ? -$i : $i
            for (e = 127; x && x < 1; e--)
                x *= 2
            for (; x >= 2; e++)
                x /= 2
            word = x ? e * 8388608 + int((x - 1) * 8388608 + 0.5) : 0
            for (k = 0; k < 4; k++) {
                byte = word % 256 + (k == 3 && $i < 0 ? 128 : 0)
                printf "\\0%03o", byte
                word = int(word / 256)
            }
        }
    }')"
}

awk 'BEGIN {
    c = cos(0.1745); s = sin(0.1745)
    print c, s, c, s, c, -s, c, -s, -c, -s, -c, -s, -c, s, -c, s
}' | npy 8 2 >"$1"
