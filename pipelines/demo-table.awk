# Lines of kind, name, 10-NN and probe accuracy, separated by tabs: a table,
# and in words what it says of the one row of the kind `trained`, which is
# compared with the best of each other kind.  Counts of what was used: epochs,
# images, labelled, test.  ~ is a space at which no line may end.

BEGIN {
    FS = "\t"
    way[1] = "10 nearest neighbours"
    way[2] = "the linear probe"
    printf "%-24s %8s %8s\n", "features", "10-NN", "probe"
}

{
    printf "%-24s %6.1f %% %6.1f %%\n", $2, 100 * $3, 100 * $4
    for (i = 1; i <= 2; i++) {
        x = sprintf("%.1f", 100 * $(i + 2)) + 0 # as a reader sees it
        if (!(($1, i) in best) || x > best[$1, i]) {
            best[$1, i] = x
            name[$1, i] = $2
        }
    }
}

function grouped(n) {
    return n < 1000 ? n : sprintf("%d,%03d", n / 1000, n % 1000)
}

# two standard deviations of the difference of two shares near this one
function noise(percent,    p) {
    p = percent / 100
    return 200 * sqrt(2 * p * (1 - p) / test)
}

# how the trained encoder compares with the best of another kind
function compared(kind, i,    d) {
    d = best["trained", i] - best[kind, i]
    if (d < chance && d > -chance)
        return sprintf("about as many (%+.1f~points) as %s", d, name[kind, i])
    return sprintf("%.1f~points %s than %s", d < 0 ? -d : d,
        d < 0 ? "fewer" : "more", name[kind, i])
}

END {
    chance = noise(best["trained", 1])
    if (noise(best["trained", 2]) > chance)
        chance = noise(best["trained", 2])
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
    printf "Differences below %.1f points may be chance.\n", chance
}
