# shellcheck shell=bash
#
# Sourced after tap.sh by tests of foil-eval.
# shellcheck disable=SC2034 # for the tests
eval=$BIN/foil-eval

# says PATTERN ARG... : exit 0 and one line with the pattern
says() {
    local pattern=$1
    shift
    "$eval" "$@" >line || return
    cat line
    test "$(wc -l <line)" -eq 1 && grep -q -- "$pattern" line
}

# small_set : set.tar, 24 images of 16 pixels
small_set() {
    "$BIN/foil-data" generate -o set.tar --size 16 24 2>/dev/null
    "$BIN/foil-data" index set.tar 2>/dev/null
}

# trained DIR OPTION... : a run directory with a checkpoint, of set.tar
trained() {
    local run=$1
    shift
    "$BIN/foil-augment" -r "$run" --size 16 set.tar 2>"$run.augment" &
    "$BIN/foil-select" -r "$run" --batch 12 --epochs 2 set.tar 2>"$run.select" &
    "$BIN/foil-train" -r "$run" --threads 1 --deadline 60 "$@"
}
