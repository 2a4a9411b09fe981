# shellcheck shell=bash
# shellcheck disable=SC2154 # variables are shared with lib.sh
#
# Sourced by lib.sh: what comes of a run: features, measures, pictures.

# conclude : where everything is
conclude() {
    local what found=''
    for what in results.jsonl loss.png; do
        [[ ! -e $run/$what ]] || found+=", $what"
    done
    what='the run is over'
    [[ $learnt == now ]] ||
        what='the run was over before, and nothing is left to train'
    say "$what: '$run' has the encoder in latest/, its steps in\
 metrics.jsonl$found"
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

# labelled DATA : each image, or there is nothing to judge by, which foil-eval
# would say when all is trained
labelled() {
    local classes none
    classes=$(foil-data info "$1" | sed -n 's/^classes\t//p')
    [[ $classes != 0 ]] ||
        die 1 "'$1' has no labels, so that nothing can be judged by it: leave\
 TEST out, or have a folder for each class in it"
    none=$(foil-data classes "$1" | sed -n 's/^-1\t\([0-9]*\)\t.*/\1/p')
    [[ -z $none ]] ||
        die 1 "images of '$1' without a label: $none; nothing can be judged by\
 these (foil data list names them): leave TEST out, or give them one"
}

# known TRAIN TEST : each class of TEST is one of TRAIN, by its name; foil-eval
# would refuse it when all is trained
known() {
    local class
    class=$(awk -F '\t' '
        { name = $3; if (name ~ /^[0-9]+$/) sub(/^0+/, "", name) }
        FNR == 1 { next }
        FNR == NR { known[name]; next }
        $2 && !(name in known) { print $3; exit }' \
        <(foil-data classes "$1") <(foil-data classes "$2"))
    [[ -z $class ]] ||
        die 1 "'$2' has images of the class '$class', which '$1' does not have:\
 leave TEST out, or this class out of it"
}

# shared TRAIN TEST : says how many images of TEST are learnt from, for what is
# measured by these is no surprise
shared() {
    local images both
    [[ $1 != "$2" ]] || return 0
    read -rd '' images both < <(
        foil-data info "$2" "$1" | sed -nE 's/^(samples|shared)\t//p') || :
    [[ ${both:-0} -eq 0 ]] || say "$both of $images images of '$2' are in '$1', too"
}

# judged : whether the last of the measures was taken
judged() {
    local -A last=([labels]=probe [captions]=captions)
    grep -qs "^{\"measure\":\"${last[$judged_by]}\"" "$run/results.jsonl"
}

# judge TRAIN TEST : features of both, then what foil-eval(1) measures, on the
# terminal and in RUN/results.jsonl; once.
judge() {
    local measure
    [[ $learnt != before || -n $judge_anew ]] || ! judged || return 0
    features train "$1"
    features test "$2"
    for measure in knn probe; do
        step foil-eval "$measure" "$run"/embedded/{train,test}.npy
    done
}

# learn_and_judge DATA [TEST] : and judge if there is TEST
learn_and_judge() {
    learn "$@"
    [[ $# -eq 1 ]] || judge "$@"
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
