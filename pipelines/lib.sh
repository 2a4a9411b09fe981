# shellcheck shell=bash
#
# Sourced by every pipeline: the command line, the run directory, and stages
# that all end when the run does, however it ends.
#
# A pipeline is a list of steps.  `learn DATA` trains: the trainer runs on the
# terminal, its feeders in the background with a log each.  `step COMMAND...`
# runs one tool on the terminal.  What a pipeline wants of a stage stands in an
# array of that stage's name, an option with its value an item; what the user
# says with --train 'ARGS' and so on wins over it.
set -euo pipefail

pipeline=${0##*/}
pipeline=${pipeline%.sh}

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

run=run/$pipeline epochs=100 batch=256 augmenters=2 threads=$(nproc) seed=1
restarts=3 resume='' objective=simclr
select=() augment=() train=() negatives=() embed=()
# where the selector is to be: a command that runs another one there, its run
# directory and data set
elsewhere=() select_run='' select_data=''
# options of a pipeline's own: 'NAME ARG SENTENCE', in the variable of that
# name (with _ for -) its default; where ARG is N or S, a whole number
own=()
declare -A given=([select]='' [augment]='' [train]='' [negatives]='' [embed]='')

# own_usage : what the options of its own do
own_usage() {
    local item name arg what variable
    printf '\nOptions of its own:\n\n'
    for item in "${own[@]}"; do
        read -r name arg what <<<"$item"
        variable=${name//-/_}
        printf '  %-19s %s [%s]\n' "--$name $arg" "$what" "${!variable}"
    done
}

usage() {
    cat <<END
usage: foil run $pipeline${1:+ $1} [-r RUN] [--epochs N] [--batch N]
           [--augmenters N] [--threads N] [--seed N] [--restarts N] [--resume]
           [--select ARGS] [--augment ARGS] [--train ARGS] [--negatives ARGS]
           [--embed ARGS]${own:+ [OPTION ...]}

foil run $pipeline: $(sed -n '2{s/^# //p;q;}' "$0")

  -r, --run RUN       directory of the run, made with mode 0700 [$run]
  --epochs N          epochs of the whole run [$epochs]
  --batch N           images in a batch [$batch]
  --augmenters N      how many augmenters feed the trainer [$augmenters]
  --threads N         of the trainer [$threads]
  --seed N            of every random choice [$seed]
  --restarts N        how often a killed feeder is started again [$restarts]
  --resume            go on from the last checkpoint of the run
  --select ARGS       more options for foil-select; --augment, --train,
                      --negatives and --embed likewise
  --help              this text
END
    [[ ${#own[@]} -eq 0 ]] || own_usage
}

# whole OPTION VALUE : the value, in decimal
whole() {
    [[ $2 =~ ^[0-9]{1,9}$ ]] || misuse "$1 '$2': want a whole number"
    echo "$((10#$2))"
}

# take_own OPTION VALUE : set the variable of an own option
take_own() {
    local item name arg value=$2
    for item in "${own[@]}"; do
        read -r name arg _ <<<"$item"
        if [[ $1 == "--$name" ]]; then
            [[ $arg != [NS] ]] || value=$(whole "$1" "$2")
            printf -v "${name//-/_}" %s "$value"
            return
        fi
    done
    misuse "no option '$1'"
}

# options OPERANDS ARGUMENT... : read the command line; operands, described
# as in 'DATA [TEST]', go to the array operand.
options() {
    local described=$1 word value
    local -a words
    operand=()
    shift
    while [[ $# -gt 0 ]]; do
        word=$1 value=${2-}
        shift
        case $word in
        --*=*) value=${word#*=} word=${word%%=*} ;;
        --help) usage "$described"; exit ;;
        --resume) resume=--resume; continue ;;
        --) operand+=("$@"); break ;;
        -?*) [[ $# -gt 0 ]] || misuse "$word wants a value"; shift ;;
        *) operand+=("$word"); continue ;;
        esac
        case $word in
        -r | --run) run=$value ;;
        --epochs | --batch | --augmenters | --threads | --seed | --restarts)
            value=$(whole "$word" "$value")
            printf -v "${word#--}" %s "$value" ;;
        --select | --augment | --train | --negatives | --embed)
            given[${word#--}]+=" $value" ;;
        *) take_own "$word" "$value" ;;
        esac
    done
    [[ $augmenters -ge 1 ]] || misuse "--augmenters '0': want one or more"
    read -ra words <<<"$described"
    [[ ${#operand[@]} -le ${#words[@]} ]] ||
        misuse "what is '${operand[${#words[@]}]}' for?"
    read -ra words <<<"${described%%[[]*}"
    [[ ${#operand[@]} -ge ${#words[@]} ]] || misuse "wants $described"
}

# words_for STAGE ITEM... : sets words to the items that --STAGE does not
# replace, and to what --STAGE says.
words_for() {
    local theirs=" ${given[$1]} " item
    local -a more
    words=()
    for item in "${@:2}"; do
        if [[ $theirs != *" ${item%% *}"[\ =]* ]]; then
            read -ra more <<<"$item"
            words+=("${more[@]}")
        fi
    done
    read -ra more <<<"$theirs"
    words+=("${more[@]}")
}

# ---------------------------------------------------------------- the stages

declare -A stage=()   # process id: name
declare -A command=() # name: how it is started
declare -A left=()    # name: how often it may still be started again
attended='' stopped='' grace=10

# launch NAME COMMAND... : start it in a session of its own, so that Ctrl-C
# reaches us alone, and to end with us, even should we be killed.
launch() {
    local name=$1
    shift
    setsid setpriv --pdeathsig TERM "$@" &
    stage[$!]=$name
}

# feeder NAME COMMAND... : a stage in the background, with a log, that is
# started again when it is killed: all it knows it can ask for.
feeder() {
    command[$1]=${*@Q} left[$1]=$restarts
    feed "$1"
}

feed() {
    eval "launch ${command[$1]}" >>"$run/log/$1.log" 2>&1
}

# ending CODE : how a stage with that exit code has ended
ending() {
    if [[ $1 -gt 128 ]]; then
        echo "was killed by signal $(($1 - 128))"
    else
        echo "ended with exit code $1"
    fi
}

# lost NAME CODE : a stage has ended before the one that we wait for.
lost() {
    local how log=$run/log/$1.log
    [[ $2 -ne 0 && -z $stopped ]] || return 0
    how=$(ending "$2")
    if [[ $2 -gt 128 && ${left[$1]:-0} -gt 0 ]]; then
        left[$1]=$((left[$1] - 1))
        say "$1 $how; it is started again"
        feed "$1"
    elif [[ $1 == augment-* && " ${stage[*]}" == *' augment-'* ]]; then
        say "$1 $how; the others go on"
    else
        tail -n 1 "$log" >&2
        die "$2" "$1 $how; its log is '$log'"
    fi
}

# gone : sets ended and code to a stage that ended while nobody waited.  When
# one is killed then, bash says so and forgets the job, and wait -n passes it
# over; its code it still knows.
gone() {
    for ended in "${!stage[@]}"; do
        if ! kill -0 "$ended" 2>/dev/null; then
            wait "$ended" || code=$?
            return
        fi
    done
    ended=''
    return 1
}

# attend NAME : look after all stages until that one has ended well; a run
# in which it has not is over.
attend() {
    local code ended name=''
    attended=$1
    while [[ $name != "$1" ]]; do
        code=0 ended=''
        gone || wait -n -p ended "${!stage[@]}" || code=$?
        [[ -n ${ended-} ]] || continue # it was a signal to us
        name=${stage[$ended]}
        unset "stage[$ended]"
        [[ $name == "$1" ]] || lost "$name" "$code"
    done
    attended=''
    [[ -z $stopped ]] || die $((128 + stopped)) 'stopped'
    [[ $code -eq 0 ]] || die "$code" "$name $(ending "$code")"
}

# step COMMAND... : run one tool on the terminal.
step() {
    launch "$1" "$@"
    attend "$1"
}

# interrupt SIGNAL : ask the stage that we wait for to end well; a second
# signal ends it at once.  (SIGINT would not do: bash has its children ignore
# it.)
interrupt() {
    local pid
    stopped=$1
    [[ -n $attended ]] || exit $((128 + $1))
    for pid in "${!stage[@]}"; do
        [[ ${stage[$pid]} != "$attended" ]] || kill -TERM "$pid" || :
    done
}

# dismiss : end every stage that is left, in $grace seconds at most.
dismiss() {
    local i
    # shellcheck disable=SC2046 # process ids
    kill -TERM $(jobs -p) || :
    for ((i = 10 * grace; i > 0; i--)); do
        [[ -n $(jobs -rp) ]] || break
        sleep 0.1
    done
    # shellcheck disable=SC2046
    kill -KILL $(jobs -p) || :
    wait
    stage=()
} 2>/dev/null

end_all() {
    local code=$?
    trap '' INT TERM HUP
    set +e
    dismiss
    exit "$code"
}

trap end_all EXIT
trap 'interrupt 2' INT
trap 'interrupt 15' TERM HUP

# ----------------------------------------------------------------- the steps

# fresh_run : for a pipeline that brings its own data, and so may be run again
# and again: where no -r is given, the first name that is free.
fresh_run() {
    local first=run/$pipeline i
    [[ $run == "$first" && -z $resume ]] || return 0
    for ((i = 2; ; i++)); do
        [[ -e $run ]] || break
        run=$first-$i
    done
    say "everything goes to '$run'"
}

# open_run : make the run directory, or refuse one that holds another run.
open_run() {
    if [[ -e $run/latest && -z $resume ]]; then
        die 1 "'$run' holds a run: --resume goes on with it, -r takes another"
    fi
    mkdir -p "$run"
    chmod 700 "$run"
    mkdir -p "$run/log"
}

# indexed DATA : make the index of a data set that has none yet.
indexed() {
    [[ -e ${1%/}.foil || $1 == *.foil ]] || step foil-data index "$1"
}

# epochs_kept WORD... : of how many epochs a selector with these options wants
# the trainer to keep features; nothing where it plans without
epochs_kept() {
    local all=" $* " lag=1
    local planned=' --strategy[ =](osgd|osgd-full|spectral|swap) | --refine '
    [[ $all =~ $planned ]] || return 0
    planned=' --lag[ =]([0-9]+) '
    [[ ! $all =~ $planned ]] || lag=${BASH_REMATCH[1]}
    echo $((lag + 1))
}

# learn DATA : train on a data set; sinks start before sources.
learn() {
    local i kept filtered=''
    local -a words
    open_run
    indexed "$1"
    words_for select "${select[@]}"
    kept=$(epochs_kept "${words[@]}")
    words_for train "${train[@]}" ${kept:+"--keep-features $kept"}
    launch train foil-train -r "$run" --objective "$objective" \
        --threads "$threads" --seed "$seed" ${resume:+"$resume"} "${words[@]}"
    if [[ $objective == emc2 || $objective == cache ]]; then
        words_for negatives "${negatives[@]}"
        # a filter stands between selector and augmenters
        [[ " ${words[*]} " != *' --filter '* ]] ||
            filtered=--filter
        feeder negatives foil-negatives -r "$run" --seed "$seed" "${words[@]}"
    fi
    words_for augment "${augment[@]}" ${filtered:+"$filtered"}
    for ((i = 1; i <= augmenters; i++)); do
        feeder "augment-$i" foil-augment -r "$run" --seed "$seed" \
            "${words[@]}" "$1"
    done
    words_for select "${select[@]}"
    feeder select "${elsewhere[@]}" foil-select -r "${select_run:-$run}" \
        --seed "$seed" --batch "$batch" --epochs "$epochs" "${words[@]}" \
        "${select_data:-$1}"
    attend train
}

# features NAME DATA OPTION... : write the features of a data set to
# RUN/embedded/NAME.npy, those of the newest checkpoint where no --raw is said.
features() {
    local name=$1 data=$2 checkpoint=$run/latest
    local -a words
    shift 2
    [[ " $* " != *' --raw '* ]] || checkpoint=''
    mkdir -p "$run/embedded"
    indexed "$data"
    words_for embed "${embed[@]}"
    step foil-embed -o "$run/embedded/$name.npy" --threads "$threads" \
        "$@" "${words[@]}" ${checkpoint:+"$checkpoint"} "$data"
}

# judge TRAIN TEST : features of both, then a line of JSON for each measure.
judge() {
    features train "$1"
    features test "$2"
    step foil-eval knn "$run"/embedded/{train,test}.npy
    step foil-eval probe "$run"/embedded/{train,test}.npy
}

# draw FOLDER NAME : make FOLDER/NAME.png by the script NAME.gp beside it.
draw() {
    if command -v gnuplot >/dev/null; then
        (cd "$1" && gnuplot "$2.gp")
    else
        say "no gnuplot here: '$1/$2.gp' draws '$2.png' where there is one"
    fi
}

# draw_loss : the loss of each batch and its running mean over 2 % of the run
# (loss.txt) as a picture, and the gnuplot script that drew it beside it.
draw_loss() {
    sed -n 's/^{"total":\([0-9]*\),.*"loss":\([^,]*\),.*/\1 \2/p' \
        "$run/metrics.jsonl" | awk '
        { step[NR] = $1; loss[NR] = $2; sum[NR] = sum[NR - 1] + $2 }
        END {
            half = int(NR / 100)
            for (i = 1; i <= NR; i++) {
                first = i > half ? i - half : 1
                last = i + half < NR ? i + half : NR
                print step[i], loss[i],
                    (sum[last] - sum[first - 1]) / (last - first + 1)
            }
        }' >"$run/loss.txt"
    cat >"$run/loss.gp" <<END
# gnuplot loss.gp draws loss.png from loss.txt: step, loss, running mean.
set terminal pngcairo size 800,500
set output "loss.png"
set title "The lower the loss, the better are the two views of an image\\n\\
told from those of the other images in their batch"
set xlabel "step: a batch of $batch images, two views of each"
set ylabel "loss [nats]"
set autoscale xfix
set grid
plot "loss.txt" using 1:2 with points pointtype 7 pointsize 0.2 \\
    linecolor "grey60" title "of one batch", \\
    "" using 1:3 with lines linewidth 2 linecolor "blue" \\
    title "running mean over 2 % of the run"
END
    draw "$run" loss
}
