# Sourced by tests/cli/stud*.sh after tap.sh: runs studies in $work.
# shellcheck shell=bash disable=SC2154 # some names are the caller's
export OMP_NUM_THREADS=1

# study NAME ARG... : run it in a folder of the same name
study() {
    local name=$1
    shift
    timeout -k 5 900 "$BIN/foil" run "studies/$name" -r "$work/$name" "$@"
}

# pictures FOLDER NAME... : the plots exist (the .png only where gnuplot is installed)
pictures() {
    local name
    for name in "${@:2}"; do
        test -s "$work/$1/$name.gp" || return
        ! command -v gnuplot >/dev/null || test -s "$work/$1/$name.png" ||
            return
    done
}
