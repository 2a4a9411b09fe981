# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with lib.sh
#
# Sourced by lib.sh: the list of stages for foil-run(1), with their options.

# quote WORD... : sets line to the words as foil-run(1) reads them
quote() {
    local word mark="'\\''"
    line=''
    for word; do
        [[ $word =~ ^[][[:alnum:]_./:=,@%+-]+$ ]] ||
            word="'${word//\'/"$mark"}'"
        line+="${line:+ }$word"
    done
}

# warmup : sets value to its epochs, a tenth of all at most
warmup() {
    value=$warm
    [[ $((10 * warm)) -le $epochs ]] ||
        value=$((epochs / 10)).$((epochs % 10))
}

# without_net : items without what describes a net
without_net() {
    local item
    local -a all=("${items[@]}")
    items=()
    for item in "${all[@]}"; do
        case ${item%% *} in
        --arch | --stem | --width | --norm | --head | --embed | --precision) ;;
        --text) items+=('--text program') ;;
        *) items+=("$item") ;;
        esac
    done
}

# words_for_select, words_for_train : sets words; a checkpoint knows its warm-up
words_for_select() {
    words_for select "${select[@]}"
    words=(--seed "$seed" --batch "$batch" --epochs "$epochs" "${words[@]}")
}

# has_own_net : whether the encoder is a program's, of which the options of
# foil-train say nothing
has_own_net() {
    local -a theirs
    split train
    [[ " ${theirs[*]%%=*} " == *' --encoder '* &&
        " ${theirs[*]%%=*} " != *' --arch '* ]]
}

words_for_train() {
    local value
    local -a items=("${train[@]}") more
    ! has_own_net || without_net
    [[ $objective != "$usual" ]] || items+=("${tuned[@]}")
    warmup
    [[ -z $warm || -e $run/latest ]] || items+=("--warmup $value")
    [[ $ranks -eq 1 || -e $run/latest ]] || items+=("--shards $ranks")
    [[ ${keep_epochs:-0} -eq 0 ]] || items+=("--keep-features $keep_epochs")
    for_trainer
    more=("${words[@]}")
    # its own vocabulary is that of before, by whatever path the run is called
    [[ -z $resume || ${#merges[@]} -eq 0 || -n $vocabulary ]] ||
        more+=(--override vocabulary)
    words_for train "${items[@]}"
    words=(-r "$run" --objective "$objective" --threads "$threads"
        --seed "$seed" ${resume:+"$resume"} "${more[@]}" "${merges[@]}"
        "${words[@]}")
}

# negatives_wanted : sets method to that of the service, '' where the objective
# wants none
negatives_wanted() {
    local value
    field negatives "$train_says"
    method=${value#null}
}

# words_for_negatives, words_for_augment DATA : sets words; where negatives come
# from outside of the batch, the service stands before the augmenters
words_for_negatives() {
    local method value
    negatives_wanted
    words_for negatives "${negatives[@]}" "--method $method"
    field outside "$train_says"
    if [[ $filter == yes || (-z $filter && $value == true) ]]; then
        [[ " ${words[*]} " == *' --filter '* ]] || words+=(--filter)
    fi
    words=(-r "$run" --seed "$seed" "${words[@]}")
}

words_for_augment() {
    local filtered=() method
    negatives_wanted
    if [[ -n $method ]]; then
        words_for_negatives
        [[ " ${words[*]} " != *' --filter '* ]] || filtered=(--filter)
    fi
    words_for augment "${augment[@]}" "${filtered[@]}"
    words=(-r "$run" --seed "$seed" "${merges[@]}" "${words[@]}" "$1")
}

# command_of STAGE [DATA] : sets command to how it is started, with the run
# directory as $RUN
command_of() {
    local line there
    local -a words
    "words_for_$1" "${@:2}"
    command=${program[$1]}
    [[ $1 != train || $ranks -eq 1 || $command != foil-train ]] ||
        command="mpirun -n $ranks foil-train-mpi"
    if [[ $1 == select ]]; then
        quote "${elsewhere[@]}"
        command=${line:+"$line "}$command
        words=(-r "${select_run:-$run}" "${words[@]}" "${select_data:-$2}")
    fi
    quote "$run"
    there=" -r $line "
    quote "${words[@]}"
    line=" $line"
    command+=${line/"$there"/" -r \$RUN "}
}

# stages DATA : sets list to that for foil-run(1); sinks start before sources
stages() {
    local again=killed,$restarts main=main command method
    command_of train
    # mpirun kills its processes at a SIGTERM
    [[ ! $command =~ ^(mpirun|srun)' ' ]] || main=main,USR1
    list=$'# name     copies  restart   command\n'
    list+="train      $main    never     $command"
    negatives_wanted
    if [[ -n $method ]]; then
        command_of negatives
        list+=$'\n'"negatives  1       $again  $command"
    fi
    command_of augment "$1"
    list+=$'\n'"augment    $augmenters       $again  $command"
    command_of select "$1"
    list+=$'\n'"select     1       $again  $command"
}

# show_command LINE : print it, broken between words where it is long
show_command() {
    local word line='  $' quotes within=0
    local -a all
    read -ra all <<<"$1"
    for word in "${all[@]}"; do
        if [[ $within -eq 0 && $((${#line} + ${#word})) -gt 76 ]]; then
            echo "$line \\"
            line='     '
        fi
        line+=" $word"
        word=${word//"\\'"/} quotes=${word//[^\']/}
        within=$(((within + ${#quotes}) % 2))
    done
    echo "$line"
} >&2

# show_list LIST : the commands of its stages, which run beside each other
show_list() {
    local i copies line
    local -a all
    mapfile -t all < <(grep -v '^#' <<<"$1")
    for i in "${!all[@]}"; do
        read -r _ copies _ line <<<"${all[i]}"
        line=${line//\$RUN/"$run"}
        [[ $((i + 1)) -eq ${#all[@]} ]] || line+=' &'
        [[ $copies == main* || $copies == 1 ]] || line+=" # $copies of these"
        show_command "$line"
    done
}
