#compdef foil -P foil-*
# Completion in zsh for foil and foil-*: what bash would offer, by foil.bash, which lies
# where make install put it.

local page=${functions_source[_foil]:A:h}/../../bash-completion/completions/foil
local said word
local -a found spread
# --option=word is three words to bash
for word in "${(@)words[1,CURRENT]}"; do
    if [[ $word == --*=* ]]; then
        spread+=("${word%%=*}" = "${word#*=}")
    else
        spread+=("$word")
    fi
done
spread[1]=${commands[${words[1]}]:-${words[1]}}
[[ ${spread[-2]} != = ]] || compset -P '*='
said=$(bash -c '. "$0"; _foil_print "$@"' "$page" "${spread[@]}" 2>/dev/null)
found=("${(@f)said}")
case ${found[1]} in
words) compadd -- "${(@)found[2,-1]}" ;;
files) _files ;;
esac
