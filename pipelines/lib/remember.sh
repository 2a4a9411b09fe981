# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with lib.sh
#
# Sourced by lib.sh: what a run remembers, so that --resume goes on with it.
#
# RUN/command has a line 'KEY VALUE' for the pipeline (a script of the user's own
# by its path), for each option by its
# name and for each operand by its own, as DATA; \\ and \n stand for a backslash
# and a new line.

# keys_of_run : sets keys
keys_of_run() {
    local stages=("${!program[@]}")
    keys=("${operands[@]}" "${common[@]%% *}" "${own[@]%% *}" "${!given[@]}"
        "${stages[@]/%/-command}")
}

# look_up KEY : sets value to what the run is told
look_up() {
    local name=${1//-/_} i
    case $1 in
    [A-Z]*)
        value=''
        for i in "${!operand[@]}"; do
            [[ ${operands[i]} != "$1" ]] ||
                value=$(realpath -ms -- "${operand[i]}")
        done ;;
    select | augment | train | negatives | embed) value=${given[$1]# } ;;
    *-command) value=${program[${1%-command}]} ;;
    *) value=${!name} ;;
    esac
}

# tell KEY VALUE : tell it the run, in place of what it was told before
tell() {
    local i
    case $1 in
    [A-Z]*)
        for i in "${!operands[@]}"; do
            [[ ${operands[i]} != "$1" || -z $2 ]] || operand[i]=$2
        done ;;
    select | augment | train | negatives | embed) given[$1]=" $2" ;;
    *) take "--$1" "$2" ;;
    esac
}

# remember : write RUN/command
remember() {
    local key value text="pipeline $known_as" why
    local -a keys
    [[ -n $remembers ]] || return 0
    keys_of_run
    for key in "${keys[@]}"; do
        look_up "$key"
        value=${value//\\/\\\\}
        text+=$'\n'"$key ${value//$'\n'/\\n}"
    done
    if ! why=$({ echo "$text" >"$run/command.new"; } 2>&1); then
        rm -f "$run/command.new"
        rmdir "$run" 2>/dev/null || :
        die 1 "cannot write '$run/command': ${why##*: }"
    fi
    sync "$run/command.new"
    mv "$run/command.new" "$run/command"
}

# recall : what the run remembers holds, unless it is overridden
recall() {
    local line value
    local -a keys
    if [[ ! -e $run/command ]]; then
        [[ ! -e $run/latest ]] ||
            say "'$run' is of an older foil and does not remember its command:\
 it goes on with the options given now"
        return 0
    fi
    keys_of_run
    while IFS= read -r line; do
        printf -v value %b "${line#* }"
        agree "${line%% *}" "$value"
    done <"$run/command"
}

# configure : take what the file of --config has, in the form of RUN/command, and
# what is not said on the command line
configure() {
    local line key value
    local -a keys
    [[ -r $config ]] || die 1 "cannot read '$config'"
    keys_of_run
    while IFS= read -r line || [[ -n $line ]]; do
        key=${line%% *}
        [[ -n $key && $key != \#* && $key != pipeline ]] || continue
        [[ " ${keys[*]} " == *" $key "* ]] ||
            misuse "'$config' has '$key', which is no option of $pipeline"
        value=''
        [[ $line != *' '* ]] || printf -v value %b "${line#* }"
        [[ -n ${said[$key]-} ]] || tell "$key" "$value"
    done <"$config"
}

# agree KEY VALUE : the run remembers this; what is said now may not differ
agree() {
    local key=$1 was=$2 value
    if [[ $key == pipeline ]]; then
        [[ $was == "$known_as" ]] || die 1 "'$run' is a run of '$was'"
        return 0
    fi
    [[ " ${keys[*]} " == *" $key "* ]] ||
        die 1 "'$run/command' has '$key', which this foil does not know"
    look_up "$key"
    if [[ -z ${said[$key]-} ]]; then
        tell "$key" "$was"
    elif [[ -n ${given[$key]+known} ]]; then
        agree_stage "$key" "$was"
    elif [[ $value != "$was" ]]; then
        may_differ "$key" "$was" "$value"
    fi
}

# agree_stage STAGE WAS : it is told both, of which what is said now replaces what
# has its name; foil-train knows what in its options has to be the same
agree_stage() {
    local item both=''
    local -a items newer
    items_of "${given[$1]}"
    newer=("${items[@]}")
    items_of "$2"
    for item in "${items[@]}"; do
        [[ " ${newer[*]%%[ =]*} " == *" ${item%%[ =]*} "* ]] || both+=" $item"
    done
    both+="${newer[*]/#/ }"
    given[$1]=$both
    [[ $1 != train && $(sort_items "$both") != "$(sort_items "$2")" ]] || return 0
    may_differ "$1" "$2" "${both# }"
}

sort_items() {
    local -a items
    items_of "$1"
    printf '%s\n' "${items[@]}" | sort
}

# may_differ KEY WAS IS : or else refuse it
may_differ() {
    local name=$1
    [[ $name == [A-Z]* ]] || name=--$name
    case $1 in
    augmenters | restarts | ranks | embed) ;; # the result is the same
    TEST) [[ -z $2 ]] || overridden "$1" || refuse_other "$name" "$2" "$3"
        judge_anew=yes ;;
    *) overridden "$1" || refuse_other "$name" "$2" "$3" ;;
    esac
}

overridden() {
    [[ " ${override[*]} " == *" $1 "* ]]
}

refuse_other() {
    die 1 "$1 is ${3:-empty}, but ${2:-empty} in this run: leave it out, or\
 add --override ${1#--}"
}

# for_trainer : sets words to --override KEY for what it may know: of what is
# the pipeline's it knows little, and a data set has another name there
for_trainer() {
    local key
    local -a keys
    keys_of_run
    words=()
    for key in "${override[@]}"; do
        case $key in
        objective | threads | seed) ;;
        "${operands[0]-}") key=dataset ;;
        *) [[ " ${keys[*]} " != *" $key "* ]] || continue ;;
        esac
        words+=(--override "$key")
    done
}
