# From lines of foil-eval for new drawings, then for new concepts: a table of the
# percentage of queries with their answer among the first 1, 5 and 10, by
# the rule `equal`, and the same in words.

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
    printf "%-32s %s   %s\n", name, three(images),
        texts == "" ? "" : three(texts)
}

FNR == 1 {
    images = object("image_to_text", $0)
    n = field("queries", images)
    printf "%s%-32s %s   %s\n", (NR > 1 ? "\n" : ""),
        (NR > 1 ? "new concepts: " : "new drawings: ") n,
        "drawing -> words", " words -> drawing"
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
    row("the encoders", object("image_to_text", $0),
        object("text_to_image", $0))
}
