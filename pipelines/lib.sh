# shellcheck shell=bash
#
# Sourced by every pipeline: the command line, the run directory, data sets and
# results.
#
# A pipeline is a list of steps.  `learn DATA` trains: it gives foil-run(1) the
# list of stages that `stages DATA` makes.  `step COMMAND...` runs one tool on
# the terminal, `pipe LINE` several.  Where shows is set, all of these commands
# are printed, as they would be typed.  The options of a stage that a pipeline sets
# are in an array of that stage's name, an option with its value an item; those that
# the user gives, by --lr 0.1 or --train '--lr 0.1', take precedence.
#
# A run remembers what the user said, in RUN/command; --resume goes on with it
# (lib/remember.sh).  The list of stages is made in lib/stages.sh; what comes of
# the run is in lib/results.sh; what belongs to captions, in lib/texts.sh; --help,
# in lib/usage.sh.
#
# `foil run` says in FOIL_PIPELINES where this file is, so that a script of the
# user's own, `foil run ./mine`, can be anywhere.
set -euo pipefail

library=${BASH_SOURCE[0]%/*}
# shellcheck source=pipelines/lib/remember.sh
. "$library/lib/remember.sh"
# shellcheck source=pipelines/lib/results.sh
. "$library/lib/results.sh"
# shellcheck source=pipelines/lib/stages.sh
. "$library/lib/stages.sh"
# shellcheck source=pipelines/lib/texts.sh
. "$library/lib/texts.sh"
# shellcheck source=pipelines/lib/usage.sh
. "$library/lib/usage.sh"

# what stands behind `foil run`, and what a run remembers: a name, or the path of
# a script of the user's own
pipeline=${0##*/}
pipeline=${pipeline%.sh}
[[ ! $0 -ef $library/studies/$pipeline.sh ]] || pipeline=studies/$pipeline
default_run=run/$pipeline known_as=$pipeline
[[ $0 -ef $library/$pipeline.sh ]] || pipeline=$0 known_as=$(realpath -s -- "$0")

say() {
    echo "foil run $pipeline: $1" >&2
}

# die CODE SENTENCE
die() {
    say "$2"
    exit "$1"
}

misuse() {
    say "$1"
    die 2 "'foil run $pipeline --help' lists the options"
}

# ---------------------------------------------------------- the command line

run=$default_run epochs=100 batch=256 augmenters=2 threads=$(nproc) seed=1
restarts=3 ranks=1 resume='' config='' objective=simclr override=() show=''
select=() augment=() train=() negatives=() embed=()
# more for the trainer, with the pipeline's own objective alone: others have
# defaults of their own
tuned=()
# epochs of warm-up, if the run is ten times as long; '': foil-train's default
warm=''
# yes, no: whether negatives come from outside of the batch; '': if they have to
filter=''
# where the selector is to be: a command that runs another one there, its run
# directory and data set
elsewhere=() select_run='' select_data=''
# what TEST must have: labels, or captions; the vocabulary of these, as an
# option of trainer and augmenters
judged_by=labels merges=()
# options that have a value: 'NAME ARG SENTENCE', in the variable of that name
# (with _ for -) its default; where ARG is N or S, a whole number; own are those
# that a pipeline adds
common=('epochs N epochs of the whole run' 'batch N images in a batch'
    'objective NAME one of foil-train --list objectives'
    'augmenters N number of augmenters'
    'threads N threads of the trainer' 'seed N seed of all random numbers'
    'restarts N most restarts of a killed feeder'
    'ranks N processes of the trainer, by mpirun: foil-ranks(7)')
own=()
# '' in a study, which remembers its settings in its own way
remembers=yes
# what the run in hand has come to: '', before this call, or now; whether it is
# to be judged once more; what prepare() has seen, and ask() has heard
learnt='' judge_anew='' prepared='' list='' select_says='' train_says='' keep_epochs=0
declare -A given=([select]='' [augment]='' [train]='' [negatives]='' [embed]='')
# how a stage is started, as foil-run(1) reads it, before its options
declare -A program=([select]=foil-select [augment]=foil-augment
    [train]=foil-train [negatives]=foil-negatives)
declare -A said=() # option or operand: 1, if the user said it now

# whole OPTION VALUE : sets value to it, in decimal
whole() {
    [[ $2 =~ ^[0-9]{1,9}$ ]] || misuse "$1 '$2': want a whole number"
    value=$((10#$2))
}

# take OPTION VALUE : set what an option is for
take() {
    local name=${1#--} value=$2
    case $1 in
    -r | --run) run=$value; return ;;
    --override) override+=("$value"); return ;;
    --config) config=$value; return ;;
    --select | --augment | --train | --negatives | --embed)
        given[$name]+=" $value" ;;
    --select-command | --augment-command | --train-command | \
        --negatives-command) program[${name%-command}]=$value ;;
    *) take_value "$1" "$value" ;;
    esac
    said[$name]=1
}

# take_value OPTION VALUE : set the variable of an option
take_value() {
    local item name arg value=$2
    for item in "${common[@]}" "${own[@]}"; do
        read -r name arg _ <<<"$item"
        if [[ $1 == "--$name" ]]; then
            [[ $arg != [NS] ]] || whole "$1" "$2"
            printf -v "${name//-/_}" %s "$value"
            return
        fi
    done
    no_option "$1"
}

# find_option OPTION : sets stage to that of which the tool has it, '' if it is the
# pipeline's own, and flag to '' if it has a value.  --lr is of the one stage that has
# it, --train.lr of that one; foil-embed is asked last, as it has much of the others.
find_option() {
    local name=${1#--} row owner at
    local -a keys stages=(select negatives augment train embed) owners=()
    keys_of_run
    stage='' flag=''
    [[ " -r --run --override --config ${keys[*]/#/--} " != *" $1 "* ]] || return 0
    [[ $1 =~ ^--[a-z][a-z0-9.-]*$ ]] || no_option "$1"
    if [[ $name == *.* && -n ${given[${name%%.*}]+known} ]]; then
        stages=("${name%%.*}") name=${name#*.}
    fi
    for owner in "${stages[@]}"; do
        [[ $owner != embed || ${#owners[@]} -eq 0 ]] || break
        row=$("foil-$owner" --help all | grep -E "^  (-., )?--(${name#no-}|$name)( |$)") ||
            continue
        owners+=("$owner")
        [[ $row == *"--${name#no-} "[^\ ]* ]] || flag=yes
    done
    stage=${owners[0]-}
    [[ -n $stage ]] || no_option "$1"
    printf -v at ' --%s' "${owners[@]/%/.$name}"
    [[ ${#owners[@]} -eq 1 ]] || misuse "several stages have $1: say which by one\
 of$at"
}

# tell_stage STAGE OPTION [VALUE]
tell_stage() {
    local name=${2#--} line
    quote "--${name#*.}" "${@:3}"
    given[$1]+=" $line"
    said[$1]=1
}

# no_option OPTION : say so, and which one was meant
no_option() {
    local -a keys words
    keys_of_run
    mapfile -t words < <(printf 'foil-%s --help all\n' "${!given[@]}" | bash | sed -nE 's/^  (-., )?(--[a-z0-9-]+).*/\2/p')
    misuse "no option '$1'$(foil guess "$1" --{run,resume,override,stages,config,help} \
        "${keys[@]/#/--}" "${words[@]}")"
}

# take_operands OPERANDS : give them their names, and refuse what is too much
take_operands() {
    local i
    read -ra operands <<<"${1//[][]/}"
    [[ ${#operand[@]} -le ${#operands[@]} ]] ||
        misuse "what is '${operand[${#operands[@]}]}' for?"
    for i in "${!operand[@]}"; do
        said[${operands[i]}]=1
    done
}

# options OPERANDS ARGUMENT... : read the command line; operands, described
# as in 'DATA [TEST]', go to the array operand.
options() {
    local described=$1 word joined stage flag
    local -a words
    operand=() usual=$objective
    shift
    while [[ $# -gt 0 ]]; do
        word=$1 joined=''
        shift
        case $word in
        -h | --help) usage "$described" | fitted || exit 1; exit ;;
        --resume) resume=--resume; continue ;;
        --stages) show=yes; continue ;;
        --) operand+=("$@"); break ;;
        --*=*) set -- "${word#*=}" "$@"; word=${word%%=*} joined=yes ;;
        -?*) ;;
        *) operand+=("$word"); continue ;;
        esac
        find_option "$word"
        [[ -z $flag || -z $joined ]] || misuse "$word has no value"
        [[ -n $flag || $# -gt 0 ]] || misuse "$word wants a value"
        if [[ -n $flag ]]; then
            tell_stage "$stage" "$word"
            continue
        fi
        if [[ -n $stage ]]; then
            tell_stage "$stage" "$word" "$1"
        else
            take "$word" "$1"
        fi
        shift
    done
    take_operands "$described"
    [[ -z $config ]] || configure
    take_back train objective threads
    take_back select batch epochs
    [[ -n $resume || ${#override[@]} -eq 0 ]] ||
        misuse '--override belongs to --resume'
    [[ -z $resume || -z $remembers ]] || recall
    [[ -z $show || -n $remembers ]] || misuse 'a study has no --stages'
    [[ $augmenters -ge 1 ]] || misuse "--augmenters '0': want one or more"
    read -ra words <<<"${described%%[[]*}"
    [[ ${#operand[@]} -ge ${#words[@]} ]] || misuse "wants $described"
}

# items_of WORDS : sets items, an option with its value each
items_of() {
    local word
    local -a all
    items=()
    read -ra all <<<"$1"
    for word in "${all[@]}"; do
        if [[ $word == -[-a-z]* || ${#items[@]} -eq 0 ]]; then
            items+=("$word")
        else
            items[-1]+=" $word"
        fi
    done
}

# take_back STAGE NAME... : --train '--objective X' is --objective X, and so on
take_back() {
    local item name items=()
    items_of "${given[$1]}"
    given[$1]=''
    for item in "${items[@]}"; do
        name=${item#--} name=${name%%[ =]*}
        if [[ $item != --*[\ =]?* || " ${*:2} " != *" $name "* ]]; then
            given[$1]+=" $item"
        elif [[ -n ${said[$name]-} ]]; then
            misuse "--$name is given twice"
        else
            take "--$name" "${item#--"$name"?}"
        fi
    done
}

# split STAGE : sets theirs to the words of what --STAGE says, which may be
# quoted
split() {
    local IFS=''
    mapfile -t -d '' theirs < <(xargs -r printf '%s\0' <<<"${given[$1]}" 2>&1 ||
        printf 'xargs\0') # its sentence before that is no word of ours
    [[ ${theirs[*]: -1} != xargs ]] ||
        misuse "--$1 '${given[$1]}': a quote is not closed"
}

# words_for STAGE ITEM... : sets words to the items that --STAGE does not
# replace, and to what --STAGE says.
words_for() {
    local item word
    local -a more theirs
    split "$1"
    words=()
    for item in "${@:2}"; do
        for word in "${theirs[@]}"; do
            [[ ${word%%=*} != "${item%% *}" ]] || continue 2
        done
        read -ra more <<<"$item"
        words+=("${more[@]}")
    done
    words+=("${theirs[@]}")
}

# ---------------------------------------------------------------- the stages

supervisor='' stopped='' interrupted='' grace=10 shows=''
holds='' # the run directory that is ours
exec {held}</dev/null # what shows that the run is ours: hold() opens it

# foil_run OPTION... : foil-run(1), which speaks for us
foil_run() {
    exec foil-run --as "foil run $pipeline" "$@" {held}<&-
}

# supervise LIST OPTION... : run a list of stages to its end by foil-run(1),
# which ends all of them when we end; a run that does not end well is over
supervise() {
    local code=0 us=$BASHPID
    [[ -z $shows ]] || show_list "$1"
    foil_run --parent "$us" --grace "$grace" "${@:2}" <<<"$1" &
    supervisor=$!
    interrupted=yes
    while [[ -n $interrupted ]]; do
        interrupted='' code=0
        wait "$supervisor" || code=$?
    done
    supervisor=''
    [[ $code -ne 143 || -n $stopped ]] || stopped=143 # by foil-stop(1)
    [[ -z $stopped ]] || halted
    [[ $code -eq 0 ]] || exit "$code"
}

# step COMMAND... : run one tool on the terminal.
step() {
    local line
    quote "$@"
    supervise "$1 main never $line"
}

# pipe LINE : run a line of several tools on the terminal.
pipe() {
    local line kept=$shows
    [[ -z $shows ]] || show_command "$1"
    shows=''
    step bash -o pipefail -c "$1"
    shows=$kept
}

# interrupt SIGNAL CODE : hand it on, and wait
interrupt() {
    stopped=$2 interrupted=yes
    [[ -n $supervisor ]] || exit "$2"
    kill "-$1" "$supervisor" || :
}

# halted : the run was asked to stop, and did
halted() {
    local how
    printf -v how "; 'foil run --resume -r %q' goes on" "$run"
    [[ -e $run/command ]] || how=''
    die "$stopped" "stopped$how"
}

at_end() {
    local code=$?
    trap '' INT TERM HUP
    set +e
    [[ $code -ne 0 || -z $learnt ]] || conclude
    exit "$code"
}

trap at_end EXIT
trap 'interrupt TERM 130' INT # which children in the background may ignore
trap 'interrupt TERM 143' TERM
trap 'interrupt HUP 143' HUP

# ----------------------------------------------------------------- the steps

# fresh_run : for a pipeline that brings its own data, and so may be run again
# and again: where no -r is given, the first name that is free.
fresh_run() {
    local i
    [[ $run == "$default_run" && -z $resume ]] || return 0
    for ((i = 2; ; i++)); do
        [[ -e $run ]] || break
        run=$default_run-$i
    done
    say "everything goes to '$run'"
}

# indexed DATA : make the index of a data set that has none yet.
indexed() {
    [[ -e ${1%/}.foil || $1 == *.foil ]] || step foil-data index "$1"
}

# field NAME LINE : sets value to that of a line of JSON, '' if it has none
field() {
    value=''
    [[ ! $2 =~ \"$1\":\"?([^],}\"]*) ]] || value=${BASH_REMATCH[1]}
}

# fields NAME : of each line of JSON on standard input
fields() {
    sed -n 's/.*"'"$1"'":"\{0,1\}\([^],}"]*\).*/\1/p'
}

# hold : keep every other foil run out of the run directory, once: a child that
# ends a moment later would keep it from us
hold() {
    local code=0
    [[ -d $run && $holds != "$run" ]] || return 0
    exec {held}<&- {held}<"$run"
    flock -n -E 99 "$held" || code=$?
    [[ $code -ne 99 ]] || die 1 "another foil run uses '$run'"
    holds=$run
}

# named : the name of the run leaves room for those of its sockets
named() {
    local LC_ALL=C longest=$run/negatives
    [[ ${#longest} -le 107 ]] ||
        die 1 "-r has ${#run} bytes: a run directory has at most 97, for the\
 names of the sockets in it"
}

# ours STAGE : whether its command ends in our tool, which knows its options
ours() {
    [[ ${program[$1]} =~ foil-$1(-mpi)?$ ]]
}

# ask DATA : the selector, if there is data yet, and the trainer, what they make
# of their options, but for those that the user has for a program of another
# kind; sets select_says and train_says, a line of JSON each, and keep_epochs, of
# how many epochs the trainer is to keep features.
ask() {
    local name value enough
    local -a words
    local -A given=([train]=${given[train]} [select]=${given[select]} [augment]=''
        [negatives]='' [embed]='') # keys_of_run has all
    for name in train select; do
        ours "$name" || given[$name]=''
    done
    select_says='' keep_epochs=0
    if [[ -n ${1-} ]]; then
        words_for_select
        select_says=$("${elsewhere[@]}" foil-select --dry-run "${words[@]}" \
            "${select_data:-$1}" {held}<&-) || exit
        field keep_features "$select_says"
        keep_epochs=$value
    fi
    ask_trainer
    field enough "$train_says"
    enough=$value
    field epoch "$train_says"
    [[ $enough == false && $value -lt $epochs ]] || learnt=before
}

# ask_trainer : sets train_says; a checkpoint that another kind of trainer wrote
# says itself how far it is
ask_trainer() {
    local where=$run state
    if ! ours train; then
        local resume='' override=()
        where=$run/none
    fi
    words_for_train
    words[1]=$where # behind -r
    train_says=$(foil-train --dry-run "${words[@]}") || exit
    if [[ $where != "$run" && -e $run/latest/config.json ]]; then
        state=$(tr -d ' \n' <"$run/latest/config.json")
        [[ ! $state =~ \"state\":(\{[^}]*\}) ]] ||
            train_says=${BASH_REMATCH[1]}$train_says
    fi
}

# prepare [DATA [TEST]] : refuse what cannot work before anything is there or
# started, make the run directory and have it remember the command.  Sets list, if
# there is DATA, to the stages as they are known by now.
prepare() {
    local data
    learnt=''
    named
    hold
    [[ ! -e $run/latest || -n $resume ]] ||
        die 1 "'$run' holds a run: --resume goes on with it, -r takes another"
    [[ $# -ne 2 ]] || ! has_own_net ||
        misuse "'$2' judges an encoder that foil-embed knows: --arch in --train says\
 which that of --encoder is, or leave it out"
    for data in "$@"; do
        indexed "$data"
        [[ $# -ne 2 ]] || shared "$1" "$data"
        case $#$judged_by in
        2labels) labelled "$data"; known "$1" "$data" ;;
        *captions) captioned "$data" ;;
        esac
    done
    ask "${1-}"
    if [[ $# -gt 0 ]]; then
        stages "$1"
        (foil_run --dry-run -r "$run" <<<"$list") || exit
    fi
    [[ -z $show ]] || show "$@"
    mkdir -p "$run"
    chmod 700 "$run"
    hold
    remember
    mkdir -p "$run/log"
    prepared="$* in $run"
}

# show [DATA] : print the list of prepare(), and be done
show() {
    [[ $# -gt 0 ]] || misuse '--stages is for a pipeline that is given its data'
    learnt=''
    echo "$list"
    exit
}

# announce DATA : say what the run trains, and from which step on
announce() {
    local value least largest at='' sizes
    [[ -n $remembers ]] || return 0
    field least "$select_says"
    least=$value
    field largest "$select_says"
    largest=$value sizes=$value
    [[ $least == "$largest" ]] || sizes="$least or $largest"
    [[ $largest == "$batch" ]] || sizes+=" (at most $batch, evened out)"
    field total "$train_says"
    if [[ $value != 0 ]]; then
        at="continues after step $value"
        field epoch "$train_says"
        at+=", in epoch $((value + 1)): "
    fi
    field samples "$select_says"
    at+="$objective, $value images of '$1' in batches of $sizes"
    counted "$epochs" epoch
    at+=", $value, seed $seed"
    counted "$threads" thread
    say "$at, $value"
}

# counted N NAME : sets value to 'N NAMEs'
counted() {
    value="$1 $2"
    [[ $1 == 1 ]] || value+=s
}

# learn DATA [TEST] : train on a data set, which TEST will judge.
learn() {
    local list=''
    [[ $prepared == "$* in $run" ]] || prepare "$@"
    prepared=''
    [[ -z $learnt ]] || return 0
    announce "$1"
    # who prepared before may have set options of stages since
    [[ -n $list ]] || stages "$1"
    supervise "$list" -r "$run"
    learnt=now
}
