# From lines of kind, name, 10-NN and probe accuracy, separated by tabs: a table,
# and text that compares the row of the kind `trained` with the best of each
# other kind, with its uncertainty.  Variables: epochs, images, labelled, test, the
# numbers used.  ~ is a space at which no line may end.

BEGIN {
    FS = "\t"
    # effect of another seed, in points: two standard deviations, the larger
    # of both measures, over the seeds 1 to 5 of the whole demo with
    # eight epochs
    moves["trained"] = 0.7
    moves["untrained"] = 1.9
    way[1] = "10 nearest neighbours"
    way[2] = "the linear probe"
    printf "%-24s %8s %8s\n", "features", "10-NN", "probe"
}

{
    printf "%-24s %6.1f %% %6.1f %%\n", $2, 100 * $3, 100 * $4
    for (i = 1; i <= 2; i++) {
        x = sprintf("%.1f", 100 * $(i + 2)) + 0 # as printed
        if (!(($1, i) in best) || x > best[$1, i]) {
            best[$1, i] = x
            name[$1, i] = $2
        }
    }
}

function grouped(n) {
    return n < 1000 ? n : sprintf("%d,%03d", n / 1000, n % 1000)
}

# two standard errors of the trained encoder's share of the test images, of
# that measure where it is largest
function sampling(    i, p, most) {
    for (i = 1; i <= 2; i++) {
        p = best["trained", i] / 100
        if (200 * sqrt(p * (1 - p) / test) > most)
            most = 200 * sqrt(p * (1 - p) / test)
    }
    return most
}

# the same of its difference to another kind, by seed and test images
function noise(kind) {
    return sqrt(2 * sampling() ^ 2 + moves["trained"] ^ 2 + moves[kind] ^ 2)
}

# how the trained encoder compares with the best of another kind
function compared(kind, i,    d) {
    d = best["trained", i] - best[kind, i]
    if (d < noise(kind) && d > -noise(kind))
        return sprintf("about as many (%+.1f~points) as %s", d, name[kind, i])
    return sprintf("%.1f~points %s than %s", d < 0 ? -d : d,
        d < 0 ? "fewer" : "more", name[kind, i])
}

END {
    printf "\nThe encoder learned from %s images in %d epoch%s, without " \
        "a label.  Each figure is the share of the %s test images whose class " \
        "is found from the features alone: by the vote of the 10 nearest of " \
        "%s labelled images (10-NN), or by a linear classifier that these " \
        "teach (probe).\n\n", grouped(images), epochs,
        epochs == 1 ? "" : "s", grouped(test), grouped(labelled)
    for (i = 1; i <= 2; i++)
        printf "By %s the trained encoder's features find the class of " \
            "%.1f~%% of the test images, %s and %s.\n\n", way[i],
            best["trained", i], compared("pixels", i),
            compared("untrained", i)
    printf "Noise: with %s other test images the trained encoder's figures " \
        "may differ by %.1f~points (two standard errors). Another seed, " \
        "processor, number of threads or kind of numbers (bf16, f32) changes " \
        "them by %.1f~points, and those of the untrained encoder by " \
        "%.1f~points (two standard deviations over five seeds, of eight " \
        "epochs). So a difference to raw pixels below %.1f~points may be " \
        "chance, and one to the untrained encoder below %.1f~points.\n",
        grouped(test), sampling(), moves["trained"], moves["untrained"],
        noise("pixels"), noise("untrained")
}
