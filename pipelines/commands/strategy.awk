#!/usr/bin/mawk -Winteractive -f
# Batches of neighbours in the data set's order, with another start in each epoch.
# foil-select --features none --strategy-command 'mawk -Winteractive -f strategy.awk'
{
    for (i = 2; i <= NF; i++) {
        split($i, word, "=")
        o[word[1]] = word[2]
    }
    id = o["epoch"] * 37 % o["samples"]
    for (b = 0; b < o["batches"]; b++) {
        n = o["size"] + (b < o["larger"])
        for (line = ""; n-- > 0; id = (id + 1) % o["samples"])
            line = line " " id
        print line
    }
    print "ok"
    fflush()
}
