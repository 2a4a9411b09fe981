# Completion in fish for foil and foil-*: what bash would offer, by foil.bash, which
# lies where make install put it.

set -g __foil_page (path resolve (status dirname)/../../bash-completion/completions/foil)

function __foil_offer
    set -l words
    # --option=word is three words to bash
    for word in (commandline -opc) (commandline -ct)
        if string match -q -- '--*=*' $word
            set -a words (string split -m 1 = -- $word)[1] = (string split -m 1 = -- $word)[2]
        else
            set -a words "$word"
        end
    end
    set words[1] (command -s $words[1]; or echo $words[1])
    set -l found (bash -c '. "$0"; _foil_print "$@"' $__foil_page $words 2>/dev/null)
    set -l before ''
    test "$words[-2]" = =; and set before (commandline -ct | string replace -r '=.*' =)
    switch "$found[1]"
        case words
            printf '%s\n' $before$found[2..]
        case files
            __fish_complete_path (commandline -ct)
    end
end

complete -c (path basename (status filename) | path change-extension '') -f -a '(__foil_offer)'
