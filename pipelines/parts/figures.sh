#!/bin/sh
# usage: figures.sh RUN
#
# Prints what the run's pipeline has evaluated, as lines of measure and value: the shares
# of the comparison with raw pixels, RUN/table.json, or else the results of the newest
# checkpoint in RUN/results.jsonl.
set -eu
if [ -e "$1/table.json" ]; then
    sed -n 's/.*"encoders":\([0-9.]*\).*/retrieval\t\1/p
        s/.*"trained":{"name":"[^"]*",\([^}]*\)}.*/\1/p' "$1/table.json" | tr , '\n' |
        sed 's/"\([^"]*\)":/\1\t/'
    exit
fi
awk '
    # the number after the first of these names
    function figure(names,    name, i, n) {
        n = split(names, name, " ")
        for (i = 1; i <= n; i++)
            if (match($0, "\"" name[i] "\":[-0-9.e+]+"))
                return substr($0, RSTART + length(name[i]) + 3,
                    RLENGTH - length(name[i]) - 3)
        return ""
    }
    !/}$/ || !/^{"measure":"/ || /"rule":"strict"/ { next }
    {
        split($0, part, "\"")
        measure = part[4] == "knn" ? figure("k") "-NN" : part[4]
        gsub(/ /, "-", measure)
        value = figure("accuracy r1 loss")
        match($0, /"manifest":"[^"]*"/)
        if (substr($0, RSTART, RLENGTH) != manifest)
            n = split("", x)
        manifest = substr($0, RSTART, RLENGTH)
        if (value != "" && !(measure in x))
            name[++n] = measure
        if (value != "")
            x[measure] = value
    }
    END {
        for (i = 1; i <= n; i++)
            printf "%s\t%s\n", name[i], x[name[i]]
    }' "$1/results.jsonl"
