# From lines of kind, name and a share for each column, separated by tabs: a table, and
# text that compares the row of the kind `trained` with the best of each other kind, with
# its uncertainty; the figures as JSON, too.  A column RankMe is no share, and is not
# compared.  ~ is a space at which no line may end.  Variables:
#   columns  1-NN, 10-NN, probe, view, RankMe, with blanks between
#   n        queries of each share; those, their name in the plural
#   encoder  encoder, or head if it reads rows of numbers
#   finds    what is found, before "of the images"
#   about    what the figures are; #1000 becomes 1,000
#   seeds    what another seed changes, in points: trained, untrained; or ""
#   json     the file for the figures
#   answer   fields of an answer to foil-eval follow, which is then the last line

BEGIN {
    FS = "\t"
    wide = split(columns, column, " ")
    shares = column[wide] == "RankMe" ? wide - 1 : wide
    split(seeds, seed, " ")
    moves["trained"] = seed[1]
    moves["untrained"] = seed[2]
    way["1-NN"] = "the nearest neighbour"
    way["10-NN"] = "10 nearest neighbours"
    way["probe"] = "the linear probe"
    way["view"] = "the nearest view"
    printf "%-24s", "features"
    for (i = 1; i <= wide; i++)
        printf " %8s", column[i]
    printf "\n"
}

{
    printf "%-24s", $2
    figures = figures ",\"" $1 "\":{\"name\":\"" $2 "\""
    for (i = 1; i <= wide; i++) {
        if (i <= shares)
            printf " %6.1f %%", 100 * $(i + 2)
        else
            printf " %8.1f", $(i + 2)
        figures = figures ",\"" column[i] "\":" $(i + 2)
        x = sprintf("%.1f", 100 * $(i + 2)) + 0 # as printed
        if (!(($1, i) in best) || x > best[$1, i]) {
            best[$1, i] = x
            name[$1, i] = $2
            share[$1, i] = $(i + 2)
        }
    }
    printf "\n"
    figures = figures "}"
}

function grouped(n) {
    return n + 0 < 1000 ? n : sprintf("%d,%03d", n / 1000, n % 1000)
}

# two standard errors of the trained encoder's share of the images, of that measure
# where it is largest
function sampling(    i, p, most) {
    most = 200 / n # of a share of 0 or 1
    for (i = 1; i <= shares; i++) {
        p = best["trained", i] / 100
        if (200 * sqrt(p * (1 - p) / n) > most)
            most = 200 * sqrt(p * (1 - p) / n)
    }
    return most
}

# the same of its difference to another kind, by seed and images
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
    if (answer) {
        printf "\n{%s,\"n\":%d,\"accuracy\":%s,\"pixels\":%s,\"untrained\":%s," \
            "\"text\":\"%s %.1f %% (%s %.1f %%, untrained %.1f %%)\"}\n",
            answer, n, share["trained", 1], share["pixels", 1], share["untrained", 1],
            column[1], best["trained", 1], encoder == "head" ? "as they are" : "raw pixels",
            best["pixels", 1], best["untrained", 1]
        exit
    }
    gain = best["trained", 1] - best["pixels", 1]
    better = gain > noise("pixels") ? "true" : "false"
    printf "\n%s than %s by %s: %+.1f~points, noise %.1f.",
        (better == "true" ? "Better" : "No better"), name["pixels", 1], column[1],
        gain, noise("pixels")
    if (better == "false" && encoder == "head")
        printf "  Try in this order: two stored views of each row, by --pair; more --epochs; " \
            "another --recipe; another --objective.  Noise alone often adds nothing."
    else if (better == "false")
        printf "  Try in this order: more --epochs; another --recipe or a larger " \
            "--size, if its views do not show what tells your images apart; another " \
            "--objective; for a few hundred images a pretrained encoder."
    while (match(about, /#[0-9]+/))
        about = substr(about, 1, RSTART - 1) \
            grouped(substr(about, RSTART + 1, RLENGTH - 1)) \
            substr(about, RSTART + RLENGTH)
    gsub(/[ \n]+/, " ", about)
    gsub(/\. /, ".  ", about)
    printf "\n\n%s\n\n", about
    for (i = 1; i <= shares; i++)
        printf "By %s the trained %s's features find %s %.1f~%% of the %s, %s " \
            "and %s.\n\n", way[column[i]], encoder, finds, best["trained", i], those,
            compared("pixels", i), compared("untrained", i)
    printf "Noise: with %s other %s the trained %s's figures may differ by " \
        "%.1f~points (two standard errors).", grouped(n), those, encoder, sampling()
    if (seeds)
        printf " Another seed, processor, number of threads or kind of numbers " \
            "(bf16, f32) changes them by %.1f~points, and those of the untrained " \
            "encoder by %.1f~points (two standard deviations over five seeds, of " \
            "eight epochs).", moves["trained"], moves["untrained"]
    printf " So a difference to %s below %.1f~points may be chance, and one " \
        "to the untrained %s below %.1f~points.\n",
        encoder == "head" ? "them as they are" : "raw pixels", noise("pixels"),
        encoder, noise("untrained")
    printf "{\"n\":%d%s,\"noise\":%.4f,\"better\":%s}\n", n, figures,
        noise("pixels") / 100, better > json
}
