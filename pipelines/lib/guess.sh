# shellcheck shell=bash
#
# Sourced by lib.sh: what a mistyped word was meant to be.

# changes A B : sets changed to how many letters have to be left out, put in,
# replaced or exchanged with the next one, to make one of the other
changes() {
    local a=$1 b=$2 i j best up left both
    local -A cost
    for ((i = 0; i <= ${#a}; i++)); do
        for ((j = 0; j <= ${#b}; j++)); do
            best=$((i + j))
            if ((i && j)); then
                up=$((i - 1)),$j left=$i,$((j - 1)) both=$((i - 1)),$((j - 1))
                best=$((cost[$both] + 1))
                [[ ${a:i-1:1} != "${b:j-1:1}" ]] || ((best -= 1)) || :
                ((cost[$up] >= best)) || best=$((cost[$up] + 1))
                ((cost[$left] >= best)) || best=$((cost[$left] + 1))
            fi
            if ((i > 1 && j > 1)) &&
                [[ ${a:i-2:2} == "${b:j-1:1}${b:j-2:1}" ]]; then
                both=$((i - 2)),$((j - 2))
                ((cost[$both] >= best)) || best=$((cost[$both] + 1))
            fi
            cost[$i,$j]=$best
        done
    done
    changed=${cost[${#a},${#b}]}
}

# meant WORD NAME... : the name that differs least from a word, as the end of a
# sentence, where two letters at most and less than half of it do
meant() {
    local word=$1 name best='' least=3 changed
    [[ ${#word} -lt 64 ]] || return 0
    for name in "${@:2}"; do
        changes "$word" "$name"
        if ((changed < least && 2 * changed < ${#name})); then
            best=$name least=$changed
        fi
    done
    [[ -z $best ]] || echo ": did you mean '$best'?"
}
