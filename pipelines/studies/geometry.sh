#!/usr/bin/env bash
# Study: free embeddings and the known optimum of the loss.
#
# N images have free embeddings of d dimensions, which infonce moves at
# temperature 1, by plain SGD of rate 0.5 in batches of two, as in the
# experiments of the mini-batch paper.  In theory the loss is least where
# cosines form a simplex (d = 2N), or a cross-polytope (d = N / 2).  Each choice
# of batches is measured by its distance from there, and by its loss over one
# batch of all and over all pairs.  A step is an update by one batch (full) or
# by the mean of all pairs (pairs), or N / 2 updates by a pair each; full-end
# and pairs-end go on with momentum until nothing moves.
#
# At the end comes the toy of that paper: four images on a circle, both views of
# an image at one point, all near one axis, 0.1745 from it.  How many updates
# does it take until they are within 0.05 of the diagonals, in the mean?
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}/..}/lib.sh"

threads=1 augmenters=1 steps=500 points=20 cases=8:16,8:4,4:8,4:2,16:32,16:8
toy_seeds=8
own=('steps N of each run' 'points N of each curve'
    'cases LIST N:d, by commas' 'toy-seeds N of the toy; 0: no toy')
# shellcheck source=pipelines/studies/lib.sh
. "$library/studies/lib.sh"
train=('--arch table' '--tau 1' '--optim sgd' '--momentum 0' '--lr 0.5'
    '--weight-decay 0' '--warmup 0' '--schedule constant' '--keep 100000')
# shellcheck disable=SC2034 # lib.sh reads it
augment=('--recipe none' '--size 8')
now='--features eval --lag 0 --tau 1'

end='--lr 2 --momentum 0.9 --schedule cosine'
method full infonce
method full-end infonce train="$end"
method pairs infonce
method pairs-end infonce train="$end"
method fixed infonce select='--strategy fixed'
method sgd infonce select='--strategy shuffle'
method osgd infonce select="--strategy osgd-full --top 1 $now"
method spectral infonce select="--strategy spectral $now"
method code infonce select="--strategy spectral --variant code $now"
method swap infonce select="--strategy swap $now"
seeds=3
options '' "$@"
open_study "$steps" "$points" "$cases"

# settings METHOD : what a step is: the size of a batch, batches and epochs of a
# step
settings() {
    batch=2 batches=$((n / 2)) of_step=1
    case $1 in
    full*) batch=$n batches=1 ;;
    pairs*) batches=$((n * (n - 1) / 2)) ;;
    osgd) of_step=$batches ;;
    esac
}

# measure STEP FOLDER OPTION... : of a checkpoint, a line of the curve
measure() {
    local view at=$1 folder=$2 log=$run/log/embed.log
    for view in 0 1; do
        step foil-embed --layer z --view "$view" "${@:3}" --threads 1 \
            -o "$run/view$view.npy" "$folder" "$images" >>"$log" 2>&1
    done
    printf '%s\t' "$at"
    for view in 0 1; do
        od -An -v -t f4 -w$((4 * d)) -j 128 "$run/view$view.npy"
    done | awk -v kind="$kind" -v gram="$run/gram.txt" \
        -f "$library/studies/geometry.awk"
}

# curve : all points of a run, which is measured; its checkpoints go
curve() {
    local folder updates
    printf '# step\tdistance\tfull loss\tloss of pairs\n'
    measure 0 "$run/latest" --untrained -s "$seed"
    for folder in "$run"/step-*; do
        updates=$((10#${folder##*-}))
        measure $((updates / batches)) "$folder"
    done
    for folder in "$run"/step-*; do
        [[ $folder -ef $run/latest ]] || rm -r "$folder"
    done
}

trial() {
    local batch batches of_step said=${said_of[$1.select]-} steps=$steps
    settings "$1"
    [[ $1 != *-end ]] || steps=$((4 * steps))
    local every=$((batches * (steps > points ? steps / points : 1)))
    local epochs=$((steps * of_step))
    case $1 in
    pairs*) said="--strategy osgd-full --draws $batches --top $batches $now" ;;
    osgd) said+=" --draws $((n * (n - 1) / 2))" ;;
    esac
    local -A said_of=([$1.select]=$said [$1.train]="${said_of[$1.train]-}
        --hidden $d --checkpoint-every $every")
    [[ $1 != pairs* ]] || said_of[$1.train]+=" --accumulate $batches"
    fit "$1" "$images"
    curve >"$run/curve.tsv"
    tail -n 1 "$run/curve.tsv" | {
        read -r _ distance loss pairs
        result distance "$distance"
        result 'full loss' "$loss"
        result 'loss of pairs' "$pairs"
    }
}

# optima : as theory has them, for n and d
optima() {
    awk -v n="$n" -v kind="$kind" 'BEGIN {
        if (kind == "simplex") {
            full = 2 * log(1 + (n - 1) * exp(-n / (n - 1)))
            pairs = 2 * log(1 + exp(-n / (n - 1)))
        } else {
            full = 2 * log(1 + (n - 2) * exp(-1) + exp(-2))
            pairs = ((n - 2) * 2 * log(1 + exp(-1)) + 2 * log(1 + exp(-2))) \
                / (n - 1)
        }
        printf "%.9f %.9f\n", full, pairs
    }'
}

# draw_grams : the cosines of the last embeddings of the first seed, as heat
draw_grams() {
    local name count=0 plots=''
    for name in ${methods//,/ }; do
        [[ -e $study/$name-$seed/gram.txt ]] || continue
        count=$((count + 1))
        plots+="set title \"$name\""$'\n'
        plots+="plot \"$name-$seed/gram.txt\" matrix with image notitle"$'\n'
    done
    cat >"$study/grams.gp" <<END
# gnuplot grams.gp draws grams.png: cosines of first views (down) with second.
set terminal pngcairo size $((210 * (count + 1) / 2)),480
set output "grams.png"
set multiplot layout 2,$(((count + 1) / 2)) title "$n images, $d dimensions"
set palette defined (-1 "blue", 0 "white", 1 "red")
set cbrange [-1:1]
set yrange [*:*] reverse
unset xtics
unset ytics
unset colorbox
set size ratio 1
$plots
END
    draw "$study" grams
}

# npy ROWS COLUMNS : numbers on standard input as an array of f4
npy() {
    local head="{'descr': '<f4', 'fortran_order': False, 'shape': ($1, $2), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$head"
    printf '%b' "$(awk '{
        for (i = 1; i <= NF; i++) {
            x = $i < 0 ? -$i : $i
            for (e = 127; x && x < 1; e--)
                x *= 2
            for (; x >= 2; e++)
                x /= 2
            word = x ? e * 8388608 + int((x - 1) * 8388608 + 0.5) : 0
            for (k = 0; k < 4; k++) {
                byte = word % 256 + (k == 3 && $i < 0 ? 128 : 0)
                printf "\\0%03o", byte
                word = int(word / 256)
            }
        }
    }')"
}

# angles : of all steps of a run of the toy, the smallest distance of an image
# from its axis, as curve.tsv: the table is all that its checkpoints hold
angles() {
    local folder
    for folder in "$run"/step-*; do
        tail -c 64 "$folder/model.safetensors" | od -An -v -t f4 -w16 |
            awk -v step="$((10#${folder##*-} / batches))" '
                function turn(x, y) {
                    return atan2(y < 0 ? -y : y, x < 0 ? -x : x)
                }
                {
                    t = turn($1, $2)
                    least = NR == 1 || t < least ? t : least
                    all = all "\t" t
                }
                END { print step "\t" least all }'
        [[ $folder -ef $run/latest ]] || rm -r "$folder"
    done >"$run/curve.tsv"
}

toy_trial() {
    local epochs=$((updates / 2)) batch=2 batches=1 said=${said_of[$1.select]-}
    case $1 in
    pairs)
        batches=6 epochs=$updates
        said="--strategy osgd-full --draws 6 --top 6 $now" ;;
    osgd) epochs=$((updates / 4)) said+=' --draws 6' ;;
    sgd) said='--strategy replace' ;;
    esac
    local -A said_of=([$1.select]=$said [$1.train]="--hidden 2 --lr 0.2
        --rows $study/rows.npy --checkpoint-every $batches")
    [[ $1 != pairs ]] || said_of[$1.train]+=" --accumulate $batches"
    fit "$1" "$images"
    angles
}

# reached : after how many updates the angle that is to be expected, the mean
# over images and seeds, is there
reached() {
    printf '%-24s %9s\n' 'the toy' updates
    awk -v goal="$(work 'atan2(1, 1) - 0.05')" '
        function flush() {
            if (name)
                printf "%-24s %9s\n", name, there ? there : "-"
            there = 0
        }
        /^"/ { flush(); name = substr($1, 2, length($1) - 2) }
        NF > 2 {
            sum = 0
            for (i = 3; i <= NF; i++)
                sum += $i
            if (!there && sum / (NF - 2) > goal)
                there = $1
        }
        END { flush() }' "$study/curves.tsv"
}

toy() {
    local methods=osgd,pairs,sgd seeds=$toy_seeds updates=240 last_step=240
    images=$top/images-4.tar study=$top/toy
    mkdir -p "$study"
    picture 4
    # u_i = v_i, so that the angle of an image turns with its gradient of both:
    # the rate 0.2 is 0.1 in the tied form of the paper
    awk 'BEGIN {
        c = cos(0.1745); s = sin(0.1745)
        print c, s, c, s, c, -s, c, -s, -c, -s, -c, -s, -c, s, -c, s
    }' | npy 8 2 >"$study/rows.npy"
    each toy_trial
    mean_curves
    reached | tee -a "$study/table.txt"
    draw_curves curves 'the smallest angle of four images' 2 'angle' linear
}

# picture N : the images, of which nothing but their number counts
picture() {
    [[ ! -e $images.foil ]] || return 0
    step foil-data generate --size 8 -o "$images" "$1"
    step foil-data index "$images"
}

top=$study every_method=$methods last_step=$steps
for case in ${cases//,/ }; do
    n=${case%:*} d=${case#*:} kind=simplex methods=$every_method
    [[ $d -ge $((n - 1)) ]] || kind=cross
    images=$top/images-$n.tar study=$top/$n-$d
    mkdir -p "$study"
    picture "$n"
    each trial
    gather
    read -r full pairs < <(optima)
    echo "$n images, $d dimensions: a $kind, full loss $full, pairs $pairs"
    echo
    table distance
    table 'full loss' '' %.7f
    table 'loss of pairs' '' %.7f
    draw_curves curves "$n images, $d dimensions" 2 distance log \
        3 'full loss' linear 4 'mean loss of pairs' linear
    draw_grams
done
[[ $toy_seeds -eq 0 ]] || toy
