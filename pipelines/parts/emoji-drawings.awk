# Emoji that two artists have drawn, from data of Debian's packages of the
# drawings.  Operands: gemojione's config/index.json, with a field a line;
# Unicode's emoji-test.txt; lists of the files of both artists' drawings, first
# those of gemojione.
#
# Files in the folder `out`: lists of drawings and tables of captions, by the
# split.  A concept is the meaning of an emoji, named by its code points.
#   train    all others, with two captions: the name, and the name with key
#            words; `full` has only the second one
#   drawing  gemojione's drawings of a quarter of the concepts; `train` has the
#            other artist's
#   twin     these, in the same order
#   concept  the other artist's drawings of an eighth of the concepts, without
#            any in `train`

# code points, without the mark for pictures (FE0F) and zeros in front
function key(text,    n, part, i, all) {
    n = split(toupper(text), part, /[^0-9A-F]+/)
    for (i = 1; i <= n; i++) {
        sub(/^0+/, "", part[i])
        if (part[i] != "" && part[i] != "FE0F")
            all = all (all == "" ? "" : "-") part[i]
    }
    return all
}

# tones of skin are left out: five more pictures of one concept
function toned(k) {
    return k ~ /(^|-)1F3F[BCDEF](-|$)/
}

# the value in a line of JSON
function value(    text) {
    text = $0
    sub(/^[^:]*: *"/, "", text)
    sub(/",? *$/, "", text)
    return text
}

# 0 .. 7, from the name: the same in every awk
function eighth(text,    i, h) {
    h = 7
    for (i = 1; i <= length(text); i++)
        h = (h * 31 + index(letters, substr(text, i, 1))) % 1000003
    return int(h / 13) % 8
}

function base(path) {
    sub(/.*\//, "", path)
    sub(/\.png$/, "", path)
    sub(/^emoji_u/, "", path)
    return path
}

function put(part, path, caption) {
    print path >(out "/" part ".txt")
    print path "\t" caption >(out "/" part ".tsv")
}

# a drawing for training, with both captions
function teach(path, k) {
    put("train", path, name[k] "\\n" full[k])
    put("full", path, full[k])
}

BEGIN {
    letters = "abcdefghijklmnopqrstuvwxyz0123456789 -:.,'"
}

FNR == 1 { operand++ }

operand == 1 && /"unicode": / { k = key(value()) }
operand == 1 && /"name": / { known[k] = value() }
operand == 1 && /"keywords": \[/ { words = ""; inside = 1; next }
operand == 1 && inside && /\]/ { keywords[k] = words; inside = 0 }
operand == 1 && inside {
    text = $0
    gsub(/^ *"|",? *$/, "", text)
    words = words " " text
}

# 1F600 ; fully-qualified # (picture) E1.0 grinning face
operand == 2 && /; fully-qualified/ {
    k = key(substr($0, 1, index($0, ";") - 1))
    text = $0
    sub(/.*# [^ ]* E[0-9.]* /, "", text)
    name[k] = text
}

operand >= 3 {
    k = key(base($0))
    if (!(k in one) && !(k in two))
        order[++n] = k
    if (operand == 3)
        one[k] = $0
    else
        two[k] = $0
}

END {
    for (i = 1; i <= n; i++) {
        k = order[i]
        if (toned(k))
            continue
        if (!(k in name))
            name[k] = known[k]
        if (name[k] == "")
            continue
        gsub(/[\t\\]/, " ", name[k])
        full[k] = tolower(name[k] keywords[k])
        name[k] = tolower(name[k])
        part = eighth(name[k])
        if (part == 0 && !(k in two))
            continue
        if (part == 0) {
            put("concept", two[k], full[k])
            continue
        }
        if (k in two)
            teach(two[k], k)
        if (k in one && k in two && part < 3) {
            put("drawing", one[k], full[k])
            put("twin", two[k], full[k])
        } else if (k in one) {
            teach(one[k], k)
        }
    }
}
