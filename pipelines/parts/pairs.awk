# From lines of foil-eval for images and captions, file by file: a table of the percentage
# of queries with their answer among the first 1, 5 and 10, by the rule `equal`.
# Variables:
#   titles  of the files, separated by ;
#   image   the word for an image
#   about   then also says whether the encoders are better than canonical correlations, or
#           without these than the features as they are, and writes the figures of the
#           first file as JSON to the file `json`
#   answer  fields of an answer to foil-eval follow, which is then the last line

BEGIN {
    split(titles ? titles : "images", title, ";")
    image = image ? image : "image"
    way = sprintf("%18s   %18s", image " -> words", "words -> " image)
}

function field(name, text) {
    if (!match(text, "\"" name "\":[-0-9.e]+"))
        return ""
    text = substr(text, RSTART, RLENGTH)
    sub(/.*:/, "", text)
    return text
}

# the object after a name
function object(name, text) {
    if (!match(text, "\"" name "\":{[^}]*}"))
        return ""
    return substr(text, RSTART, RLENGTH)
}

function three(text,    i, k, out) {
    split("r1 r5 r10", k, " ")
    for (i = 1; i <= 3; i++)
        out = out sprintf(" %5.1f", 100 * field(k[i], text))
    return out
}

function row(name, images, texts) {
    first[name] = 50 * (field("r1", images) + field("r1", texts))
    printf "%-32s %s   %s\n", name, three(images),
        texts == "" ? "" : three(texts)
}

FNR == 1 {
    images = object("image_to_text", $0)
    n = field("queries", images)
    printf "%s%-32s %s\n", (NR > 1 ? "\n" : ""), title[++files] ": " n, way
    printf "%-32s  %5s %5s %5s   %5s %5s %5s\n", "% found among the first", 1,
        5, 10, 1, 5, 10
    chance = field("chance", images)
    printf "%-32s ", "chance"
    for (i = 1; i <= 2; i++)
        printf "%s%5.1f %5.1f %5.1f", (i > 1 ? "   " : ""), 100 * chance,
            500 * chance, 1000 * chance
    printf "\n"
}

/"rule":"strict"/ { next }

/"measure":"cca"/ {
    row("canonical correlations", object("image_to_text", $0),
        object("text_to_image", $0))
}

/"measure":"retrieve"/ {
    row("nearest drawing of the other", object("forward", $0), "")
}

/"measure":"captions"/ {
    row(/"layer":"rows"/ ? "the features as they are" : \
        /"untrained":true/ ? "the untrained encoders" : "the encoders",
        object("image_to_text", $0), object("text_to_image", $0))
}

END {
    if (answer)
        printf "{%s,\"n\":%d,\"accuracy\":%.4f,\"correlations\":%.4f," \
            "\"untrained\":%.4f,\"text\":\"first answers %.1f %% (canonical " \
            "correlations %.1f %%, untrained %.1f %%)\"}\n", answer, n,
            first["the encoders"] / 100, first["canonical correlations"] / 100,
            first["the untrained encoders"] / 100, first["the encoders"],
            first["canonical correlations"], first["the untrained encoders"]
    if (answer || !about)
        exit
    base = "canonical correlations"
    if (!(base in first))
        base = "the features as they are"
    gain = first["the encoders"] - first[base]
    p = first["the encoders"] / 100
    noise = 200 * sqrt(2 * p * (1 - p) / n)
    better = gain > noise ? "true" : "false"
    printf "\n%s than %s by the first answer, mean of both ways: %+.1f~points, noise %.1f " \
        "(two standard errors).%s  %s\n",
        (better == "true" ? "Better" : "No better"), base, gain, noise,
        (better == "true" ? "" : "  Try more --epochs, more pairs, or another " \
            "--objective, in this order."), about
    printf "{\"n\":%d,\"base\":\"%s\",\"correlations\":%.4f,\"untrained\":%.4f," \
        "\"encoders\":%.4f,\"noise\":%.4f,\"better\":%s}\n", n, base, first[base] / 100,
        first["the untrained encoders"] / 100, p, noise / 100, better > json
}
