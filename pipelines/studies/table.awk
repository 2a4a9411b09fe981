# Lines of method, seed, measure, value: mean and spread of `measure` over the
# seeds, and the difference of each method to `base`, paired by seeds.
#
# A table has many comparisons, of which some are far from zero by chance.  Holm's
# correction keeps the probability that any is taken for more than chance at one
# in twenty: the smallest of m probabilities counts m times, the next m - 1
# times, and so on, and none less than the one before.

# the probability that Student's t is at least so far from 0: A&S 26.7.3, 26.7.4
function chance(t, df,    angle, c, term, sum, k) {
    angle = atan2(t < 0 ? -t : t, sqrt(df))
    c = cos(angle)
    term = df % 2 ? c : 1
    for (k = df % 2 ? 1 : 0; k <= df - 2; k += 2) {
        sum += term
        term *= c * c * (k + 1) / (k + 2)
    }
    sum *= sin(angle)
    if (df % 2)
        sum = (angle + sum) / atan2(0, -1) * 2
    return sum < 1 ? 1 - sum : 0
}

# what t has that probability of being exceeded, either way
function student(p, df,    low, high, middle) {
    for (high = 1; chance(high, df) > p; high *= 2)
        ;
    while (high - low > 1e-6 * high) {
        middle = (low + high) / 2
        if (chance(middle, df) > p)
            low = middle
        else
            high = middle
    }
    return high
}

# corrected[METHOD] of the probabilities p[METHOD] of m methods
function holm(p, m, corrected,    left, least, name, at) {
    for (left = m; left > 0; left--) {
        at = ""
        for (name in p)
            if (!(name in corrected) && (at == "" || p[name] < p[at]))
                at = name
        least = left * p[at] > least ? left * p[at] : least
        corrected[at] = least < 1 ? least : 1
    }
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
        for (i = 1; i <= methods; i++) {
            m = method[i]
            if (m == base)
                continue
            apart[m] = (sum[m] - sum[base]) / seeds
            p[m] = error ? chance(apart[m] / error, df) : !apart[m]
        }
        holm(p, methods - 1, corrected)
    }
    printf "%-24s %9s %9s", measure, "mean", "spread"
    if (judged >= 0)
        printf " %10s %6s", "- " base, "p"
    printf "\n"
    for (i = 1; i <= methods; i++) {
        m = method[i]
        printf "%-24s %9s %9s", m, sprintf(format, sum[m] / n[m]), spread(m)
        if (m in p) {
            verdict = corrected[m] < 0.05 ? "beyond" : "within"
            printf " %10.2g %6.3f  %s noise", apart[m], corrected[m], verdict
        }
        printf "\n"
    }
    if (judged >= 0) {
        few = student(0.05 / (methods - 1), df) * error
        printf "noise: p of .05 or more, by Student's t (%d seeds paired, %d " \
            "degrees of freedom)\nwith Holm's correction for %d comparisons; " \
            "beyond it is whatever exceeds %.2g\n", seeds, df, methods - 1, few
    }
    printf "\n"
}
