# shellcheck shell=bash
# shellcheck disable=SC2154 # variables are shared with lib.sh
#
# Sourced by lib.sh: what --help prints.

# values_usage ITEM... : what options that have a value do
values_usage() {
    local item name arg what variable
    for item; do
        read -r name arg what <<<"$item"
        variable=${name//-/_}
        printf '  %-19s %s [%s]\n' "--$name $arg" "$what" "${!variable}"
    done
}

usage() {
    cat <<END
usage: foil run $pipeline${1:+ $1} [OPTION ...]

foil run $pipeline: $(sed -n '2{s/^# //p;q;}' "$0")

  -r, --run RUN       run directory, created with mode 0700 [$run]
$(values_usage "${common[@]}" "${own[@]}")
  --resume            continue RUN from its newest checkpoint, with the options
                      that it was started with
  --override KEY      with --resume: allow another value of this option
  --OPTION [VALUE]    an option of a stage, such as --lr 0.1; of one of several
                      stages that have it, such as --train.tau 0.1
  --select ARGS       more options for foil-select
  --augment ARGS      for foil-augment
  --train ARGS        for foil-train
  --negatives ARGS    for foil-negatives
  --embed ARGS        for foil-embed
  --select-command C  run C instead of foil-select, with the same options
  --augment-command C
                      instead of foil-augment
  --train-command C   instead of foil-train
  --negatives-command C
                      instead of foil-negatives
  --config FILE       take options from a file, such as RUN/command of another
                      run; those given here take precedence
  --stages            print the list of stages, as foil-run(1) reads it, and
                      start nothing
  --help              this text
END
}

# fitted : the text of usage in the columns of the terminal, 80 where there is none
fitted() {
    local columns=80
    [[ ! -t 1 ]] || read -r _ columns 3>&1 < <(stty size <&3 2>/dev/null) || true
    awk -v most="$((columns > 59 ? columns : columns ? 60 : 80))" '
        length > most {
            # what an option does stands behind its name
            line = /^  / ? substr($0, 1, 22) : ""
            indent = /^  / ? 22 : 2
            n = split(substr($0, length(line) + 1), word, / +/)
            for (i = 1; i <= n; i++) {
                if (i > 1 && length(line) + 1 + length(word[i]) > most) {
                    print line
                    line = sprintf("%*s", indent, "")
                } else if (i > 1)
                    line = line " "
                line = line word[i]
            }
            $0 = line
        }
        { print }'
}
