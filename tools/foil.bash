# Completion in bash for foil and foil-*.  What there is to complete is read out
# of what the tool at hand says: --help, which is made from its option table.
# shellcheck shell=bash

# _foil_words HELP : verbs, pipelines and options that a help text lists
_foil_words() {
    sed -nE 's/^  ([a-z][a-z0-9-]*)  ? .*/\1/p
        s/^  (-., )?(--[a-z0-9-]+).*/\2/p' <<<"$1"
}

# _foil_choices HELP OPTION : the words of an option that takes one of them
_foil_choices() {
    sed -nE "s/^  (-., )?$2 ([a-z0-9-]+(\|[a-z0-9-]+)+).*/\2/p" <<<"$1" | tr '|' '\n'
}

_foil() {
    local word=$2 option=$3 at help words=('') command=("$1")
    help=$("$1" --help 2>/dev/null </dev/null)
    [[ ${1##*/} != foil ]] || help+=$'\n'$("$1" 2>/dev/null </dev/null)

    # verbs first: foil data index
    for ((at = 1; at < COMP_CWORD; at++)); do
        mapfile -t words < <(_foil_words "$help")
        [[ ${COMP_WORDS[at]} == [a-z]* &&
            " ${words[*]} " == *" ${COMP_WORDS[at]} "* ]] || break
        command+=("${COMP_WORDS[at]}")
        [[ ${COMP_WORDS[at]} == run ]] ||
            help=$("${command[@]}" --help 2>/dev/null </dev/null)
    done

    # --option=word is three words to bash
    if [[ $word == = ]]; then
        word=
    elif [[ $option == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ $option == -* ]]; then
        mapfile -t words < <(_foil_choices "$help" "$option")
        if [[ ${#words[@]} -eq 0 && $word != -* ]]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
        fi
    fi
    [[ $option == -* && ${#words[@]} -gt 0 ]] ||
        mapfile -t words < <(_foil_words "$help")
    mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$word")
}

# shellcheck disable=SC2046 # one word each
complete -o bashdefault -o default -F _foil foil $(compgen -c foil- | sort -u)
