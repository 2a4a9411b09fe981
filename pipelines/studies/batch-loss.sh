#!/usr/bin/env bash
# Study: the loss of random and of hard batches.
#
# An encoder, which SimCLR trains on --images images of DATA unless --encoder
# names a run, embeds two views of each; every strategy plans batches of these,
# in blocks of 40 where it plans in blocks.  The table has the loss of a batch
# (both directions, the positive in the denominator), its ratio to that of
# random batches, the share of pairs in a batch that are of one class, which are
# no negatives at all, and the seconds of planning.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}/..}/lib.sh"

threads=1 batch=32 epochs=8 images=10240 tau=0.1 encoder=''
own=('images N how many of DATA; 0: all' 'encoder RUN trained by someone else'
    'tau X temperature of the loss')
# shellcheck source=pipelines/studies/lib.sh
. "$library/studies/lib.sh"
train=('--arch resnet8' '--head 128-64' '--precision auto' '--optim adam'
    '--lr 0.001' '--warmup 1' '--checkpoint-every 0')
# shellcheck disable=SC2034 # lib.sh reads it
augment=('--recipe cifar' '--size 32' '--cache 200')

# a method is a way to plan here
declare -A plan_of=(
    [random]='--strategy shuffle'
    [code]='--strategy spectral --variant code'
    [spectral]='--strategy spectral'
    [k-means]='--strategy spectral --variant kmeans'
    [swap]='--strategy swap'
    [swap-.5]='--strategy swap --hardness 0.5'
    [refined]='--strategy spectral --refine'
    [osgd]='--strategy osgd --draws 10 --top 1'
)
for name in random code spectral k-means swap swap-.5 refined osgd; do
    method "$name" simclr
done
options DATA "$@"
open_study "$images" "$epochs" "$batch" "$tau" "$encoder"
train+=("--tau $tau")
subset "${operand[0]}" "$images"
if [[ -z $encoder ]]; then
    encoder=$study/encoder
    if [[ ! -e $encoder/done ]]; then
        run=$encoder objective=simclr
        [[ ! -e $run/latest ]] || resume=--resume
        learn "$part"
        touch "$encoder/done"
    fi
fi
run=$study
for view in 0 1; do
    rows=$study/view$view.npy
    [[ -e $rows ]] || step foil-embed --layer z --recipe cifar --view "$view" \
        --seed "$seed" --threads "$threads" -o "$rows" "$encoder" "$part"
done
foil-data list "$part" | awk -F '\t' 'NR > 1 { print $2 }' >"$study/labels.txt"

# kin PLAN : the share of pairs in a batch that are of one class
kin() {
    awk 'NR == FNR { class[NR - 1] = $1; next }
        {
            for (i = 1; i <= NF; i++)
                for (j = 1; j < i; j++) {
                    pairs++
                    same += class[$i] == class[$j]
                }
        }
        END { printf "%.3f\n", same / pairs }' "$study/labels.txt" "$1"
}

{
    printf '%-12s %8s %8s %8s %8s %8s %8s\n' 'loss' mean min max ratio kin \
        seconds
    for name in ${methods//,/ }; do
        file=$study/$name
        read -ra words <<<"${plan_of[$name]}"
        words_for select "${words[@]}"
        step foil-select --score -b "$batch" --tau "$tau" --seed "$seed" \
            --threads "$threads" --plan-out "$file.plan" \
            --losses "$file.losses" "${words[@]}" \
            "$study"/view{0,1}.npy >"$file.json"
        random=$(sed 's/.*"random":{"mean":\([^,]*\),.*/\1/' "$file.json")
        sort -g "$file.losses" | awk -v name="$name" -v random="$random" \
            -v kin="$(kin "$file.plan")" \
            -v seconds="$(sed 's/"random":{[^}]*}//' "$file.json" |
                fields seconds)" '
            NR == 1 { least = $1 }
            { sum += $1 }
            END {
                printf "%-12s %8.3f %8.3f %8.3f %8.2f %8s %8.2f\n", name,
                    sum / NR, least, $1, sum / NR / random, kin, seconds
            }'
    done
} | tee "$study/table.txt"

{
    cat <<'END'
# gnuplot losses.gp draws losses.png from *.losses.
set terminal pngcairo size 900,500
set output "losses.png"
set title "losses of batches"
set xlabel "loss of a batch [nats]"
set ylabel "share of the batches"
set grid
width = 0.1
bin(x) = width * (floor(x / width) + 0.5)
plot \
END
    for name in ${methods//,/ }; do
        echo "    \"$name.losses\" using (bin(\$1)):" \
            "(1.0/$(grep -c . "$study/$name.losses")) smooth frequency" \
            "with histeps linewidth 1.5 title \"$name\", \\"
    done
    echo '    1/0 notitle'
} >"$study/losses.gp"
draw "$study" losses
