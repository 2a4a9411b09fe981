# Lines of method, seed, measure, value: mean and spread of `measure` over the
# seeds, and the difference of each method to `base`, paired by seeds.

# Student's t that one in twenty exceeds, either way
function student(df,    t) {
    split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23", t, " ")
    return df <= 10 ? t[df] : 1.96 + 2.5 / df
}

# what is left of the variance when methods and seeds are taken out
function residual(    i, j, e, left) {
    for (i = 1; i <= methods; i++)
        for (j = 1; j <= seeds; j++) {
            if (!((method[i], seed[j]) in x))
                return -1
            e = x[method[i], seed[j]] - sum[method[i]] / seeds \
                - by_seed[seed[j]] / methods + all / methods / seeds
            left += e * e
        }
    return left / ((methods - 1) * (seeds - 1))
}

function spread(m,    j, squares) {
    for (j = 1; j <= seeds; j++)
        if ((m, seed[j]) in x)
            squares += (x[m, seed[j]] - sum[m] / n[m]) ^ 2
    return n[m] > 1 ? sprintf("%.2g", sqrt(squares / (n[m] - 1))) : "-"
}

$3 == measure {
    if (!($1 in n))
        method[++methods] = $1
    if (!($2 in by_seed))
        seed[++seeds] = $2
    x[$1, $2] = $4
    n[$1]++
    sum[$1] += $4
    by_seed[$2] += $4
    all += $4
}

END {
    judged = methods > 1 && seeds > 1 && base in n ? residual() : -1
    if (judged >= 0) {
        df = (methods - 1) * (seeds - 1)
        error = sqrt(2 * judged / seeds)
        noise = student(df) * error
    }
    printf "%-24s %9s %9s", measure, "mean", "spread"
    if (judged >= 0)
        printf " %10s", "- " base
    printf "\n"
    for (i = 1; i <= methods; i++) {
        m = method[i]
        printf "%-24s %9s %9s", m, sprintf(format, sum[m] / n[m]), spread(m)
        if (judged >= 0 && m != base) {
            d = (sum[m] - sum[base]) / seeds
            verdict = d > noise || d < -noise ? "beyond" : "within"
            printf " %10.2g  %s noise", d, verdict
        }
        printf "\n"
    }
    if (judged >= 0)
        printf "noise: %.2g, %.2f standard errors of a difference (%d seeds " \
            "paired, %d degrees\nof freedom); one in twenty is beyond it by " \
            "chance\n", noise, student(df), seeds, df
    printf "\n"
}
