# Completion in bash for foil and foil-*.  What there is to complete is what the
# tool at hand lists: by --list options its option table, an object a line, and by
# other words behind --list the values of an option.
# shellcheck shell=bash

# _foil_verbs ROWS : verbs, pipelines and topics among the rows
_foil_verbs() {
    sed -nE '/"name":/!s/^\{"verb":"([^"]+)".*/\1/p' <<<"$1"
    sed -nE 's/^\{"operands":"(([a-z]+\|)+[a-z]+) .*/\1/p' <<<"$1" | tr '|' '\n'
}

# _foil_options ROWS : the options, but not those of verbs to come
_foil_options() {
    sed -nE '/"verb":|"of":/!s/^.*"name":"([^"]+)".*/--\1/p' <<<"$1"
}

# _foil_parameters ROWS OPTION : the rows of what may stand behind it
_foil_parameters() {
    grep -E "\"of\":\"([a-z|-]*\\|)?${2#--}[\"|]" <<<"$1"
}

# _foil_field ROW KEY : the text of a field
_foil_field() {
    sed -nE "s/^.*\"$2\":\"(([^\"\\\\]|\\\\.)*)\".*/\1/p" <<<"$1"
}

# _foil_values ROW COMMAND... : the values of an option that takes one of some
_foil_values() {
    local value sentence tool=("${@:2}")
    value=$(_foil_field "$1" argument)
    sentence=$(_foil_field "$1" sentence)
    if [[ $sentence =~ one\ of\ (foil-[a-z]+)?\ ?--list\ ([a-z]+) ]]; then
        [[ -z ${BASH_REMATCH[1]} ]] || tool=("${BASH_REMATCH[1]}")
        "${tool[@]}" --list "${BASH_REMATCH[2]}" 2>/dev/null </dev/null |
            sed -nE 's/^\{"name":"([^"]+)".*/\1/p'
    elif [[ $value =~ ^[a-z0-9-]+(:[^|]*)?(\|.+)*$ ]]; then
        tr '|' '\n' <<<"$value" | sed 's/[:[].*//'
    fi
}

# _foil_value ROWS OPTION WORD PARAMETER COMMAND... : completes the value of an
# option, or of a parameter behind it, or the name of one behind a comma; 1 where
# the option has none
_foil_value() {
    local row words rows before='' word=$3 parameter=$4
    rows=$(grep -v '"of":' <<<"$1")
    if [[ $word == *,* ]]; then
        before=${word%,*}, word=${word##*,} parameter=
        if [[ $word == *=* ]]; then
            parameter=${word%%=*} before+=${word%%=*}= word=${word#*=}
        fi
    fi
    if [[ $before == *, ]]; then
        mapfile -t words < <(_foil_parameters "$1" "$2" |
            sed -E 's/.*"name":"([^"]+)".*"argument".*/\1=/; t; s/.*"name":"([^"]+)".*/\1/')
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "${words[*]}" -- "$word")
        compopt -o nospace 2>/dev/null
        [[ ${#words[@]} -eq 0 ]] || return 0
    elif [[ $parameter ]]; then
        rows=$(_foil_parameters "$1" "$2")
        set -- "$rows" "--$parameter" "${@:3}"
    fi
    row=$(grep -m 1 -F -e "\"name\":\"${2#--}\"" -e "\"short\":\"${2#-}\"" <<<"$rows")
    [[ $row == *'"argument":'* ]] || return
    mapfile -t words < <(_foil_values "$row" "${@:5}")
    if [[ ${#words[@]} -gt 0 ]]; then
        mapfile -t COMPREPLY < <(compgen -P "$before" -W "${words[*]}" -- "$word")
    elif [[ $row =~ \"argument\":\"(FILE|DIR|RUN|PATH|\[[a-z=|]*\]FILE) ]]; then
        mapfile -t COMPREPLY < <(compgen -P "$before" -f -- "$word")
        compopt -o filenames 2>/dev/null
    else
        compopt +o default +o bashdefault 2>/dev/null # a number, not a file
    fi
    return 0
}

# _foil_pipeline FOIL ARG... : the options of a pipeline, which prints no table, and
# those of its stages, which it has, too
_foil_pipeline() {
    local stage
    "$@" --help 2>/dev/null </dev/null |
        sed -E ':more; N; s/\n {12,}/ /; t more; P; D' | sed -nE 's/["\\]/\\&/g
        s/^  (-(.), )?--([a-z0-9-]+) ([^ ].*)/{"name":"\3","short":"\2","argument":"\4"}/
        s/^(.*"argument":"[^ ]+) +(.*)"}/\1","sentence":"\2"}/p
        s/^  --([a-z0-9-]+).*/{"name":"\1"}/p'
    for stage in select negatives augment train; do
        "$1" "$stage" --list options 2>/dev/null </dev/null |
            sed "s/ one of --list / one of foil-$stage --list /"
    done
}

# _foil_rows COMMAND ... : what it takes next, a row each
_foil_rows() {
    local row='s/^  ([a-z][a-z0-9/-]*)( .*|$)/{"verb":"\1"}/p'
    case ${1##*/}' '${*:2} in
    foil\ ) "$1" 2>/dev/null </dev/null | sed -nE "/^pipelines/q; $row" ;;
    foil\ run) "$1" 2>/dev/null </dev/null | sed -nE "1,/^pipelines/d; $row" ;;
    foil\ help)
        "$1" 2>/dev/null </dev/null |
            sed -E "p; s/[^']*('([a-z]+)')?/\2\n/g" | sed 's/^[a-z]/  &/' |
            sed -nE "$row"
        ;;
    foil\ run\ [a-z.]*) _foil_pipeline "$@" ;;
    *) "$@" --list options 2>/dev/null </dev/null ;;
    esac
}

_foil() {
    local word=$2 option=$3 parameter='' at rows words last command=("$1")

    # verbs first: foil data index
    rows=$(_foil_rows "$1")
    for ((at = 1; at < COMP_CWORD; at++)); do
        mapfile -t words < <(_foil_verbs "$rows")
        [[ ${COMP_WORDS[at]} == [a-z]* &&
            " ${words[*]} " == *" ${COMP_WORDS[at]} "* ]] || break
        command+=("${COMP_WORDS[at]}")
        rows=$(_foil_rows "${command[@]}")
    done

    # --option=word is three words to bash, and so is a parameter=value
    last=$COMP_CWORD
    if [[ $word == = ]]; then
        word=
        ((last++))
    fi
    while [[ ${COMP_WORDS[last - 1]} == = && $last -gt 2 ]]; do
        option=${COMP_WORDS[last - 2]}
        [[ $option != -* ]] || break
        parameter=${parameter:-${option##*,}} option=${COMP_WORDS[last - 3]}
        ((last -= 2))
    done
    if [[ $option == -* && $word != -* ]] &&
        _foil_value "$rows" "$option" "$word" "$parameter" "${command[@]}"; then
        return
    fi
    words=()
    if [[ $word == -* ]]; then
        mapfile -t words < <(_foil_options "$rows")
    elif [[ $at -eq $COMP_CWORD ]]; then
        mapfile -t words < <(_foil_verbs "$rows")
    fi
    mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$word")
}

# _foil_print COMMAND WORD... : for other shells: "words" and what the last word may
# become, "files" where it is a file's name, or nothing where it is neither.
_foil_print() {
    local what=words
    compopt() {
        case $* in *filenames*) what=files ;; *default*) what=nothing ;; esac
    }
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _foil "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    [[ $what != words || ${#COMPREPLY[@]} -gt 0 || ${!#} == -* ]] || what=files
    [[ $what != words ]] || COMPREPLY=(words "${COMPREPLY[@]}")
    [[ $what != files ]] || COMPREPLY=(files)
    [[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\n' "${COMPREPLY[@]}"
}

# shellcheck disable=SC2046 # one word each
complete -o bashdefault -o default -F _foil foil $(compgen -c foil- | sort -u)
