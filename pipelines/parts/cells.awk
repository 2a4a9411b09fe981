# From lines of an option, a value and that value quoted for a shell, option by option: a
# line for each combination of values, its name, which is that of a folder, and its
# options.  For equal values exits with 2, and prints why.

function short(value) {
    sub(/^\./, "0.", value)
    gsub(/[^A-Za-z0-9.=+-]/, "-", value)
    return value
}

# combines all combinations so far with the values of one more option
function combine(    i, j, k, was, options) {
    for (i = 1; i <= n; i++) {
        was[i] = name[i]
        options[i] = words[i]
    }
    for (i = 1; i <= n; i++)
        for (j = 1; j <= m; j++) {
            name[++k] = was[i] (was[i] == "" ? "" : "_") short(value[j])
            words[k] = options[i] " " option " " quoted[j]
        }
    n = m ? k : n
    m = 0
}

BEGIN { n = 1 }

$1 != option {
    combine()
    option = $1
}

{
    for (i = 1; i <= m; i++)
        if (value[i] == $2 || short(value[i]) == short($2)) {
            printf "%s has '%s' and '%s': want different values\n", $1, value[i], $2
            exit bad = 2
        }
    if ($2 == "") {
        printf "%s has an empty value\n", $1
        exit bad = 2
    }
    value[++m] = $2
    quoted[m] = $3
}

END {
    if (bad)
        exit bad
    combine()
    for (i = 1; i <= n; i++)
        print (name[i] == "" ? "all" : name[i]) words[i]
}
