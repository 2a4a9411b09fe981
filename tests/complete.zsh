#!/usr/bin/env -S zsh -f
# What zsh makes of a line when Tab is pressed behind it, as a person at a terminal sees it.
#
# usage: complete.zsh SHARE FILE LINE      writes the line into FILE
zmodload zsh/zpty
[[ -n $3 ]] || exit 2
zpty shell zsh -f -i
zpty -w shell "fpath=(${(q)1}/zsh/site-functions \$fpath)
autoload -Uz compinit
compinit -D -u
write_line() { zle complete-word; print -r -- \"\$BUFFER\" >${(q)2}.new; mv ${(q)2}.new ${(q)2}; }
zle -N write_line
bindkey '^T' write_line"
zpty -n -w shell "$3"$'\C-T'
for ((i = 0; i < 300; i++)); do
    [[ ! -e $2 ]] || exit 0
    zpty -r -t shell said # or it waits for us to read
    sleep .1
done
exit 1
