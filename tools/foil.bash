# Completion in bash for foil and foil-*.  What there is to complete is read out
# of what the tool at hand says: --help, which is made from its option table,
# and --list.
# shellcheck shell=bash

# _foil_verbs HELP : verbs, pipelines and topics that a help text lists
_foil_verbs() {
    sed -nE 's/^  ([a-z][a-z0-9/-]*)( .*|$)/\1/p' <<<"$1"
    grep -oE '^ +([a-z]+\|)+[a-z]+ ' <<<"$1" | tr -d ' ' | tr '|' '\n'
}

# _foil_options HELP
_foil_options() {
    sed -nE 's/^  (-., )?(--[a-z0-9-]+).*/\2/p' <<<"$1"
}

# _foil_row HELP OPTION : what is behind the option, and its sentence, in one line
_foil_row() {
    sed -E ':more; N; s/\n {12,}/ /; t more; P; D' <<<"$1" |
        sed -nE "s/^  (-., )?$2 ?( .*|$)/\2/p; s/^  $2, --[a-z0-9-]+ ?( .*|$)/\1/p"
}

# _foil_values ROW COMMAND... : the values of an option that takes one of some
_foil_values() {
    local value sentence tool=("${@:2}")
    read -r value sentence <<<"$1"
    if [[ $sentence =~ one\ of\ (foil-[a-z]+)?\ ?--list\ ([a-z]+) ]]; then
        [[ -z ${BASH_REMATCH[1]} ]] || tool=("${BASH_REMATCH[1]}")
        "${tool[@]}" --list "${BASH_REMATCH[2]}" 2>/dev/null </dev/null |
            sed -nE 's/^\{"name":"([^"]+)".*/\1/p'
    elif [[ $value =~ ^[a-z0-9-]+(:[^|]*)?(\|.+)+$ ]]; then
        tr '|' '\n' <<<"$value" | sed 's/[:[].*//'
    fi
}

# _foil_value HELP OPTION WORD COMMAND... : completes the value of an option; 1
# where it has none
_foil_value() {
    local row words
    row=$(_foil_row "$1" "$2")
    [[ -n $row && $row != '  '* ]] || return
    mapfile -t words < <(_foil_values "$row" "${@:4}")
    if [[ ${#words[@]} -gt 0 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$3")
    elif [[ $row =~ ^\ (FILE|DIR|RUN|PATH|\[[a-z=|]*\]FILE) ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$3")
        compopt -o filenames 2>/dev/null
    else
        compopt +o default +o bashdefault 2>/dev/null # a number, not a file
    fi
    return 0
}

# _foil_stages FOIL : the options of the stages of a pipeline, which has them, too
_foil_stages() {
    local stage
    for stage in select negatives augment train; do
        "$1" "$stage" --help all 2>/dev/null </dev/null |
            sed "s/ one of --list / one of foil-$stage --list /"
    done
}

# _foil_help COMMAND ... : what it takes next
_foil_help() {
    case ${1##*/}' '${*:2} in
    foil\ ) "$1" 2>/dev/null </dev/null | sed '/^pipelines/,$d' ;;
    foil\ help)
        "$1" 2>/dev/null </dev/null |
            sed -E "p; s/[^']*('([a-z]+)')?/\2\n/g" | sed 's/^[a-z]/  &/'
        ;;
    foil\ run\ [a-z.]*)
        "$@" --help 2>/dev/null </dev/null
        _foil_stages "$1"
        ;;
    *) "$@" --help all 2>/dev/null </dev/null ;;
    esac
}

_foil() {
    local word=$2 option=$3 at help words command=("$1")

    # verbs first: foil data index
    help=$(_foil_help "$1")
    for ((at = 1; at < COMP_CWORD; at++)); do
        mapfile -t words < <(_foil_verbs "$help")
        [[ ${COMP_WORDS[at]} == [a-z]* &&
            " ${words[*]} " == *" ${COMP_WORDS[at]} "* ]] || break
        command+=("${COMP_WORDS[at]}")
        help=$(_foil_help "${command[@]}")
    done

    # --option=word is three words to bash
    if [[ $word == = ]]; then
        word=
    elif [[ $option == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ $option == -* && $word != -* ]] &&
        _foil_value "$help" "$option" "$word" "${command[@]}"; then
        return
    fi
    words=()
    if [[ $word == -* ]]; then
        mapfile -t words < <(_foil_options "$help")
    elif [[ $at -eq $COMP_CWORD ]]; then
        mapfile -t words < <(_foil_verbs "$help")
    fi
    mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$word")
}

# _foil_print COMMAND WORD... : for other shells: "words" and what the last word may
# become, "files" where it is a file's name, or nothing where it is neither.
_foil_print() {
    local what=words
    compopt() { [[ $* == *filenames* ]] && what=files || what=nothing; }
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _foil "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    [[ $what != words || ${#COMPREPLY[@]} -gt 0 || ${!#} == -* ]] || what=files
    [[ $what != words ]] || COMPREPLY=(words "${COMPREPLY[@]}")
    [[ $what != files ]] || COMPREPLY=(files)
    [[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
}

# shellcheck disable=SC2046 # one word each
complete -o bashdefault -o default -F _foil foil $(compgen -c foil- | sort -u)
