# Which differences of methods are significant: for table.awk, which
# fills x[MEASURE, METHOD, SEED], method[1 .. methods] and seed[1 .. seeds].
#
# A difference is that of two methods with the same seed, tested by Student's t
# of its own seeds alone, so that methods may vary by unequal amounts.  A study
# has many comparisons, and some are far from zero by chance.  So only measures
# that were named beforehand are judged, and Holm's correction over all of their
# comparisons limits the probability of any false result in a study to one in
# twenty: the smallest of m probabilities counts m times, the next m - 1 times,
# and so on, and none less than the previous one.

BEGIN { LEAST = 5 } # seeds of a verdict

# the probability of a Student's t at least so far from 0: A&S 26.7.3, 26.7.4
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

# the two-sided quantile of t for that probability
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

# corrected[KEY] of m probabilities p[KEY], in each of so many parts of a study
function holm(p, m, parts, corrected,    left, least, key, at) {
    for (left = m; left > 0; left--) {
        at = ""
        for (key in p)
            if (!(key in corrected) && (at == "" || p[key] < p[at]))
                at = key
        if (left * parts * p[at] > least)
            least = left * parts * p[at]
        corrected[at] = least < 1 ? least : 1
    }
}

# pairs[METHOD], apart[METHOD], error[METHOD]: the number of seeds in
# common with base, the mean difference to base, and its standard error
function pair(measure, m, base,    j, d, sum, squares, n) {
    n = 0
    for (j = 1; j <= seeds; j++)
        if ((measure, m, seed[j]) in x && (measure, base, seed[j]) in x) {
            d[++n] = x[measure, m, seed[j]] - x[measure, base, seed[j]]
            sum += d[n]
        }
    pairs[m] = n
    if (n) {
        apart[m] = sum / n
        for (j = 1; j <= n; j++)
            squares += (d[j] - apart[m]) ^ 2
        error[m] = n > 1 ? sqrt(squares / (n - 1) / n) : 0
    }
}

# corrected[MEASURE, METHOD], for primary measures, separated by commas, and each
# method with enough seeds; returns how many these are
function judge(primary, base, parts, corrected,    name, i, k, m, n, p, q) {
    k = split(primary, name, ",")
    n = 0
    for (; k > 0; k--)
        for (i = 1; i <= methods; i++) {
            m = method[i]
            if (m == base)
                continue
            pair(name[k], m, base)
            if (pairs[m] < LEAST)
                continue
            q = error[m] ? chance(apart[m] / error[m], pairs[m] - 1) : !apart[m]
            p[name[k], m] = q
            n++
        }
    holm(p, n, parts, corrected)
    return n
}
