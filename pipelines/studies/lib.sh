# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with lib.sh
#
# Sourced by every study, behind lib.sh: the same training by several methods
# with several seeds, judged alike.
#
# The folder of a study holds a run for each method and seed, METHOD-SEED, and
# in it, once it is judged, result.tsv: a line 'measure<tab>value' for each
# measure.  What has results is not trained again: a study that was interrupted
# goes on when it is called again, and one called with more seeds or methods
# trains what is missing.  Equal seeds give all methods equal initial weights,
# batches and views, so differences are taken seed by seed.
#
# Every study has many measures, and something is far from zero by chance in most
# of them: it names what is judged, its primary measure, before it trains, and
# cannot change that in the same folder.
#
# One call trains on one core.  Calls of different seeds (--seed 1 --seeds 1,
# --seed 2 --seeds 1 ...) may work in one folder at once; another one without
# them, when they have ended, prints and draws what all have found.

study='' methods='' seeds=5 warmup=0 remembers=''
# measures of which there is a verdict, and in how many parts of the study
primary=${primary-} parts=1
own=('methods LIST which methods, by commas'
    'seeds N how many seeds, from that of --seed on; a verdict takes five'
    ${primary:+'primary LIST measures that are judged, by commas'} "${own[@]}")

declare -A objective_of=() # method: objective
declare -A said_of=()      # method.stage: its options of that stage

# method NAME OBJECTIVE [STAGE=ARGS]... : declare one; --methods lists them all
# unless it is said otherwise.
method() {
    local what
    methods+=${methods:+,}$1
    objective_of[$1]=$2
    for what in "${@:3}"; do
        said_of[$1.${what%%=*}]=${what#*=}
    done
}

# open_study SETTING... : make the folder, or go on in one whose settings,
# words that say what results depend on, are the same.  From here to the first
# each() no other call works in it: calls that begin at once make one part of
# the data, and whatever else all trials read.
open_study() {
    local name
    study=$run
    for name in ${methods//,/ }; do
        [[ -n ${objective_of[$name]-} ]] || misuse "no method '$name'"
    done
    mkdir -p "$study"
    chmod 700 "$study"
    alone
    rm -f "$study/table.txt"
    printf '%s\n' "$@" "$primary" "${operand[*]}" "${given[@]}" \
        >"$study/settings.$$"
    if [[ -e $study/settings ]] &&
        ! cmp -s "$study/settings" "$study/settings.$$"; then
        rm "$study/settings.$$"
        die 1 "'$study' holds a study with other settings: -r takes another"
    fi
    mv "$study/settings.$$" "$study/settings"
    for name in train select augment negatives; do
        declare -ga "common_$name=()"
        local -n from=$name to=common_$name
        # shellcheck disable=SC2034 # blend reads it
        to=("${from[@]}")
    done
}

# blend METHOD STAGE : set that stage's array to what is common to all methods
# but for what the method says itself.
blend() {
    local said=" ${said_of[$1.$2]-} " item word
    local -n common=common_$2 into=$2
    into=()
    for item in "${common[@]}"; do
        [[ $said == *" ${item%% *} "* ]] || into+=("$item")
    done
    for word in $said; do
        if [[ $word == --* ]]; then
            into+=("$word")
        else
            into[-1]+=" $word"
        fi
    done
}

# fit METHOD DATA : train in $run, on from where it was interrupted
fit() {
    local name
    resume=''
    [[ ! -e $run/latest ]] || resume=--resume
    objective=${objective_of[$1]}
    for name in train select augment negatives; do
        blend "$1" "$name"
    done
    learn "$2"
    learnt='' # the study says where everything is
}

# alone : until shared(), no other call in this folder comes past this
alone() {
    shared # a second lock would wait for the first
    exec {folder}>"$study/lock"
    flock "$folder"
}

shared() {
    [[ -z ${folder-} ]] || exec {folder}>&-
    folder=''
}

# each COMMAND : run it as COMMAND METHOD SEED, with $run for the two, where
# there are no results yet.
each() {
    local first=$seed name i
    shared
    for ((i = 0; i < seeds; i++)); do
        for name in ${methods//,/ }; do
            run=$study/$name-$((first + i)) seed=$((first + i))
            [[ ! -e $run/result.tsv ]] || continue
            say "$name, seed $seed"
            mkdir -p "$run"
            : >"$run/result.new"
            "$1" "$name" "$seed"
            mv "$run/result.new" "$run/result.tsv"
        done
    done
    run=$study seed=$first
}

# result MEASURE VALUE : of the run at hand
result() {
    printf '%s\t%s\n' "$1" "$2" >>"$run/result.new"
}

# seconds_of RUN : what it took, passes for features between its steps and all;
# a pause of more than a minute, as of a run that was interrupted, does not
# count
seconds_of() {
    paste <(fields time <"$1/metrics.jsonl") \
        <(fields seconds <"$1/metrics.jsonl") |
        awk '{
            passed = $1 - last
            sum += last && passed < 60 ? passed : $2
            last = $1
        }
        END { printf "%.1f\n", sum }'
}

# judge_run TRAIN TEST : the accuracies of nearest neighbours and of a linear
# probe that TRAIN teaches and TEST asks.
judge_run() {
    judge "$@" >"$run/judged.jsonl"
    fields accuracy <"$run/judged.jsonl" | {
        read -r one && read -r ten && read -r probe
        result 1-NN "$one"
        result 10-NN "$ten"
        result probe "$probe"
    }
    result seconds "$(seconds_of "$run")"
}

# judge_pairs TEST : how often images find their captions (TR) and captions their
# images (IR), by the rule equal
judge_pairs() {
    local k line value
    embed_pairs test "$1"
    step foil-eval retrieve --captions --threads "$threads" \
        "$run"/embedded/test{,-texts}.npy >"$run/judged.jsonl"
    line=$(grep '"rule":"equal"' "$run/judged.jsonl")
    for k in 1 5 10; do
        field "r$k" "${line%%text_to_image*}"
        result "TR@$k" "$value"
        field "r$k" "${line#*text_to_image}"
        result "IR@$k" "$value"
    done
    field r_mean "$line"
    result r_mean "$value"
    result seconds "$(seconds_of "$run")"
}

# samples_in DATA : how many
samples_in() {
    foil-data info "$1" | sed -n 's/^samples\t//p'
}

# work EXPRESSION : what it comes to
work() {
    awk "BEGIN { print (${1//$'\n'/ }) }"
}

# subset DATA COUNT : sets part to an index of about so many samples of it, of
# each class alike; 0, or more than there are, is all
subset() {
    local all
    indexed "$1"
    all=$(samples_in "$1")
    part=$1
    if [[ $2 -gt 0 && $2 -lt $all ]]; then
        part=$study/part.foil
        [[ -e $part ]] || step foil-data split --share "$(work "$2 / $all")" \
            "$1" "$part" "$study/rest.foil"
    fi
}

# time_steps METHOD DATA : the seconds of a step, in a short run of its own: the
# median, for the machine may be busy with something else now and then
time_steps() {
    local -r kept=${given[train]} planned=$epochs
    run=$study/rate
    rm -rf "$run"
    given[train]+=' --steps 320' epochs=9999
    fit "$1" "$2" >&2
    given[train]=$kept epochs=$planned
    tail -n 300 "$run/metrics.jsonl" | fields time |
        awk 'NR > 1 { print $1 - last } { last = $1 }' | sort -g |
        sed -n '150p'
    rm -rf "$run"
    run=$study
}

# calibrate DATA SECONDS : sets steps_of[METHOD] so that each method trains for
# so long.  The methods are timed in two turns, for the machine may be shared,
# and the faster turn counts; rates.tsv keeps what came out.  Rates within 5 %
# of the first method's count as equal to it.
declare -A steps_of=()
calibrate() {
    local turn name steps rates=$study/rates.tsv
    alone
    touch "$rates"
    for turn in 1 2; do
        for name in ${methods//,/ }; do
            grep -q "^$name	$turn	" "$rates" ||
                printf '%s\t%s\t%s\n' "$name" "$turn" \
                    "$(time_steps "$name" "$1")" >>"$rates"
        done
    done
    while read -r name steps; do
        steps_of[$name]=$steps
    done < <(awk -v seconds="$2" '
        NR == 1 { first = $1 }
        !($1 in best) || $3 < best[$1] { best[$1] = $3 }
        END {
            for (name in best) {
                x = best[name] / best[first]
                if (x > 0.95 && x < 1.05)
                    best[name] = best[first]
                print name, int(seconds / best[name] + 0.5)
            }
        }' "$rates")
    shared
}

# batches_of DATA : how many make an epoch
batches_of() {
    local n
    n=$(samples_in "$1")
    echo "$(((n + batch - 1) / batch))"
}

# fit_steps METHOD DATA STEPS [BATCHES] : fit() for so many steps, at the end of
# which the cosine schedule is at its end; after a warm-up of as many steps as
# make $warmup epochs of all images, or half of all where that is fewer.  Where
# the method's plan has other epochs than these, BATCHES are theirs.
fit_steps() {
    local all per epochs rise
    all=$(batches_of "$2")
    per=${4-$all}
    epochs=$((($3 + per - 1) / per))
    rise=$(work "$warmup * $all < $3 / 2 ? $warmup * $all : $3 / 2")
    local common_train=("${common_train[@]}" "--steps $3"
        "--warmup $(work "$rise / $per")"
        "--schedule cosine:$(work "($3 - $rise) / $per > 0.01 ?
            ($3 - $rise) / $per : 0.01")")
    fit "$1" "$2"
}

# gather : all results of the study, as method, seed, measure, value
gather() {
    local i name at
    alone
    for ((i = seed; i < seed + seeds; i++)); do
        for name in ${methods//,/ }; do
            at=$study/$name-$i/result.tsv
            [[ ! -e $at ]] || sed "s/^/$name\t$i\t/" "$at"
        done
    done >"$study/results.tsv"
}

# table MEASURE [BASE [FORMAT]] : mean and spread of a measure over the seeds,
# method by method, and the difference to BASE, with a verdict if the measure is
# a primary one; printed, and kept in table.txt.
table() {
    awk -F '\t' -v measure="$1" -v base="${2-}" -v format="${3-%.4g}" \
        -v primary="$primary" -v parts="$parts" \
        -f "$library/studies/verdict.awk" -f "$library/studies/table.awk" \
        "$study/results.tsv" | tee -a "$study/table.txt"
}

# seeds_of METHOD FILE NAME : the lines of its runs' FILE, each behind NAME
seeds_of() {
    local i at
    for ((i = seed; i < seed + seeds; i++)); do
        at=$study/$1-$i/$2
        [[ ! -e $at ]] || sed "/^#/d; s/^/$3\t/" "$at"
    done
}

# mean_curves : curves.tsv, for each method a block with its name and the mean
# over the seeds of the runs' curve.tsv, line by line; and METHOD:mean, of their
# mean.tsv, where a study measures the mean of weights, too
mean_curves() {
    local name
    for name in ${methods//,/ }; do
        seeds_of "$name" curve.tsv "$name"
        seeds_of "$name" mean.tsv "$name:mean"
    done | awk '
        function flush(    i, k) {
            if (!rows)
                return
            printf "%s\"%s\"\n", blocks++ ? "\n\n" : "", name
            for (i = 1; i <= rows; i++) {
                for (k = 2; k <= NF; k++)
                    printf "%.9g%s", sum[i, k] / n[i], k < NF ? "\t" : "\n"
            }
        }
        $1 != name {
            flush()
            split("", sum)
            split("", row)
            split("", n)
            rows = 0
            name = $1
        }
        {
            if (!($2 in row))
                row[$2] = ++rows
            n[row[$2]]++
            for (k = 2; k <= NF; k++)
                sum[row[$2], k] += $k
        }
        END { flush() }' >"$study/curves.tsv"
}

# claim COLUMN : what a paper says of that column is to be drawn, too: with
# claim_of[COLUMN]='METHOD X LABEL', an Xth of that method's curve
declare -A claim_of=()
claim() {
    local method x label at
    read -r method x label <<<"${claim_of[$1]-}"
    at=$(grep '^"' "$study/curves.tsv" | grep -nx "\"$method\"") || return 0
    echo ", 'curves.tsv' index $((${at%%:*} - 1)) using 1:(\$$1 / $x)" \
        "with lines linecolor black dashtype 3 title \"$label\""
}

# draw_curves NAME TITLE [COLUMN LABEL linear|log]... : NAME.png, a panel for
# each of these columns of the mean curves against the first one, up to
# $last_step where that is set
draw_curves() {
    local name=$1 title=$2 count
    shift 2
    mean_curves
    count=$(grep -c '^"' "$study/curves.tsv")
    {
        cat <<END
# gnuplot $name.gp draws $name.png from curves.tsv.
set terminal pngcairo size $((640 * $# / 3)),520
set output "$name.png"
set multiplot layout 1,$(($# / 3)) title "$title"
set xlabel "step" offset 0,0.7
set format x "%.0s%c"
set xrange [*:${last_step:-*}]
set grid
set key autotitle columnhead outside bottom center horizontal
END
        while [[ $# -gt 0 ]]; do
            echo "set ylabel \"$2\""
            if [[ $3 == log ]]; then
                printf 'set logscale y\nset format y "10^{%%L}"\n'
            else
                printf 'unset logscale y\nset format y "%%g"\n'
            fi
            echo "plot for [i=0:$((count - 1))] 'curves.tsv' index i" \
                "using 1:$1 with lines linewidth 1.5 dashtype i/8+1$(claim "$1")"
            shift 3
        done
    } >"$study/$name.gp"
    draw "$study" "$name"
}
