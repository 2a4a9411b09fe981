#!/bin/bash
# usage: draw-losses.sh STUDY METHODS : losses.png, their histograms
set -eu
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
    for name in ${2//,/ }; do
        echo "    \"$name.losses\" using (bin(\$1)):" \
            "(1.0/$(grep -c . "$1/$name.losses")) smooth frequency" \
            "with histeps linewidth 1.5 title \"$name\", \\"
    done
    echo '    1/0 notitle'
} >"$1/losses.gp"
exec "${0%/*}/draw.sh" "$1" losses
