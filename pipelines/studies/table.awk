# Reads lines of method, seed, measure, value; prints mean and spread of
# `measure` over the seeds, and the difference of each method to `base`, paired
# by seeds; with a verdict (verdict.awk) if `measure` is one of the `primary`
# ones, separated by commas.  `parts` is the number of such tables in a study.

{
    if (!(($1, "") in seen))
        method[++methods] = $1
    if (!(("", $2) in seen))
        seed[++seeds] = $2
    seen[$1, ""] = seen["", $2] = 1
    x[$3, $1, $2] = $4
}

# n[METHOD], mean[METHOD], spread[METHOD] of the measure
function sum_up(m,    j, sum, squares) {
    n[m] = 0
    for (j = 1; j <= seeds; j++)
        if ((measure, m, seed[j]) in x) {
            n[m]++
            sum += x[measure, m, seed[j]]
        }
    if (!n[m])
        return
    mean[m] = sum / n[m]
    for (j = 1; j <= seeds; j++)
        if ((measure, m, seed[j]) in x)
            squares += (x[measure, m, seed[j]] - mean[m]) ^ 2
    spread[m] = n[m] > 1 ? sqrt(squares / (n[m] - 1)) : -1
}

function row(m,    verdict) {
    printf "%-24s %9s %9s", m, sprintf(format, mean[m]),
        spread[m] < 0 ? "-" : sprintf("%.2g", spread[m])
    if (m != base && pairs[m] > 1)
        printf " %10.2g %9.2g", apart[m],
            student(0.05, pairs[m] - 1) * error[m]
    if ((measure, m) in corrected) {
        verdict = corrected[measure, m] < 0.05 ? "beyond" : "within"
        printf " %6.3f  %s noise", corrected[measure, m], verdict
    }
    printf "\n"
}

# explains the columns of differences, and the verdict or its absence
function explain(comparisons,    i, m, most) {
    for (i = 1; i <= methods; i++)
        if (method[i] != base && pairs[method[i]] > most)
            most = pairs[method[i]]
    printf "+-: the 95 %% interval of each difference by itself (%d seeds " \
        "paired, Student's t)\n", most
    if (index("," primary ",", "," measure ",") == 0)
        printf "no verdict: this study judges %s only\n", primary
    else if (most < LEAST)
        printf "no verdict: %d seeds, and at least %d are needed\n", most, LEAST
    else
        printf "p: by Holm's correction for %d comparisons%s; beyond noise: " \
            "below .05\n", comparisons,
            (parts > 1 ? " in each of " parts " parts" : "")
    for (i = 1; i <= methods; i++) {
        m = method[i]
        if (n[m] > 2 && n[base] > 2 &&
            (spread[m] > 3 * spread[base] || spread[base] > 3 * spread[m]))
            printf "beware: the spreads of %s and %s differ by more than 3 " \
                "times\n", m, base
    }
}

END {
    comparisons = judge(primary, base, parts ? parts : 1, corrected)
    for (i = 1; i <= methods; i++) {
        sum_up(method[i])
        pair(measure, method[i], base)
        compared += method[i] != base && pairs[method[i]] > 1
    }
    printf "%-24s %9s %9s", measure, "mean", "spread"
    if (compared)
        printf " %10s %9s", "- " base, "+-"
    for (key in corrected)
        judged += index(key, measure SUBSEP) == 1
    printf "%s\n", judged ? sprintf(" %6s", "p") : ""
    for (i = 1; i <= methods; i++)
        if (n[method[i]])
            row(method[i])
    if (compared)
        explain(comparisons)
    printf "\n"
}
