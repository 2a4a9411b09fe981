# shellcheck shell=sh
# Sourced by studies: the same training by several methods with several seeds.
# STUDY has a folder for each trial, and in it, once the trial is evaluated,
# result.tsv: a trial that has results is not trained again.  foil-run(1).
RESULT=result.tsv

# make_folder FOLDER : with mode 0700, unless it exists
make_folder() {
    [ ! -d "$1" ] || return 0
    mkdir -p "$1"
    chmod 700 "$1"
}

# settings SETTING... : prints all settings that the results depend on, a line NAME VALUE
# each; fails if STUDY has other settings
settings() {
    foil-run --settings "$@"
}

# lock_study : until the next trial no other call prepares or gathers
lock_study() {
    exec 9>"$STUDY/lock"
    flock 9
}

# study SETTING... : creates the folder, or continues one with the same settings
study() {
    make_folder "$STUDY"
    lock_study
    if ! settings "$@" >"$STUDY/settings.new"; then
        rm "$STUDY/settings.new"
        exit 1
    fi
    mv "$STUDY/settings.new" "$STUDY/settings"
    rm -f "$STUDY/table.txt"
}

# enter_run FOLDER : makes it RUN, and locks it against another foil run
enter_run() {
    make_folder "$1"
    exec 8<"$1"
    flock -n 8 || fail "another foil run uses '$1'"
    RUN=$1 FOIL_HELD=$1
    export RUN FOIL_HELD
    # a subshell loses traps, which make a signal wait for the end of the command
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# trial NAME COMMAND... : runs the command, which writes RUN/result.new, with
# STUDY/NAME as RUN
trial() {
    _name=$1
    shift
    named_trial "$_name" "$_name" "$@"
}

# named_trial NAME SENTENCE COMMAND... : the same, and prints the sentence
named_trial() {
    flock -u 9
    [ ! -e "$STUDY/$1/$RESULT" ] || return 0
    say "$2"
    (
        enter_run "$STUDY/$1"
        shift 2
        : >"$RUN/result.new"
        "$@" 8<&-
        [ -s "$RUN/result.new" ] ||
            fail "'$RUN/result.new' is empty: $1 has written no result"
        mv "$RUN/result.new" "$RUN/$RESULT"
    )
}

# each_trial DO ARG... : DO METHOD SEED ARG... for each of METHODS and SEEDS
each_trial() {
    _do=$1
    shift
    for _seed in $(seq "$SEED" $((SEED + SEEDS - 1))); do
        for _method in $(echo "$METHODS" | tr , ' '); do
            "$_do" "$_method" "$_seed" "$@"
        done
    done
}

# run_trial METHOD SEED COMMAND... : a trial of the command with METHOD and SEED as last
# arguments
run_trial() {
    _name=$1-$2 _sentence="$1, seed $2"
    shift 2
    named_trial "$_name" "$_sentence" "$@" "${_name%-*}" "${_name##*-}"
}

# trials COMMAND... : all of these trials, and their results
trials() {
    each_trial run_trial "$@"
    gather
}

# print_result METHOD SEED : its lines after these two
print_result() {
    [ ! -e "$STUDY/$1-$2/$RESULT" ] || sed "s/^/$1\\t$2\\t/" "$STUDY/$1-$2/$RESULT"
}

# gather : the results of all trials, as method, seed, measure, value
gather() {
    lock_study
    each_trial print_result >"$STUDY/results.tsv"
}

# parts_of LIST COMMAND : a study in parts: COMMAND VALUE for each value of a list, with a
# folder for each, VALUE with - for :, as STUDY; TOP is that of the whole study, COUNT
# the number of parts
parts_of() {
    TOP=$STUDY
    # shellcheck disable=SC2034 # for the study
    COUNT=$(echo "$1" | tr , '\n' | wc -l)
    for _part in $(echo "$1" | tr , ' '); do
        STUDY=$TOP/$(echo "$_part" | tr : -)
        mkdir -p "$STUDY"
        "$2" "$_part"
    done
}
