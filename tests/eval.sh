# shellcheck shell=bash
#
# Sourced after tap.sh by tests of foil-eval.
# shellcheck disable=SC2034 # for the tests
eval=$BIN/foil-eval

# prints_line PATTERN ARG... : foil-eval exits with 0 and prints one line with the pattern
prints_line() {
    local pattern=$1
    shift
    "$eval" "$@" >line || return
    cat line
    test "$(wc -l <line)" -eq 1 && grep -q -- "$pattern" line && return
    echo "this is not one line with '$pattern'"
    return 1
}

# small_set : makes set.tar, 24 images of 16 pixels, and sets what `trained` trains on
small_set() {
    "$BIN/foil-data" generate -o set.tar --size 16 24 2>/dev/null
    "$BIN/foil-data" index set.tar 2>/dev/null
    data=set.tar augment_with=(--size 16) select_with=(--batch 12 --epochs 2)
}
