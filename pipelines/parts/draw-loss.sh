#!/bin/sh
# usage: draw-loss.sh RUN BATCH
#
# Writes the loss of each batch and its running mean over 2 % of the run (loss.txt),
# draws loss.png, and keeps its gnuplot script.
set -eu
sed -n 's/^{"total":\([0-9]*\),.*"loss":\([^,]*\),.*/\1 \2/p' \
    "$1/metrics.jsonl" | awk '
    { step[NR] = $1; loss[NR] = $2; sum[NR] = sum[NR - 1] + $2 }
    END {
        half = int(NR / 100)
        for (i = 1; i <= NR; i++) {
            first = i > half ? i - half : 1
            last = i + half < NR ? i + half : NR
            print step[i], loss[i],
                (sum[last] - sum[first - 1]) / (last - first + 1)
        }
    }' >"$1/loss.txt"
cat >"$1/loss.gp" <<END
# gnuplot loss.gp draws loss.png from loss.txt: step, loss, running mean.
set terminal pngcairo size 800,500
set output "loss.png"
set title "The lower the loss, the better are the two views of an image\\n\\
told from those of the other images in their batch"
set xlabel "step: a batch of $2 images, two views of each"
set ylabel "loss [nats]"
set autoscale xfix
set grid
plot "loss.txt" using 1:2 with points pointtype 7 pointsize 0.2 \\
linecolor "grey60" title "of one batch", \\
"" using 1:3 with lines linewidth 2 linecolor "blue" \\
title "running mean over 2 % of the run"
END
exec "${0%/*}/draw.sh" "$1" loss
