# Rows of N embeddings u, then N of v, as numbers: their distance from the optimum
# of the theory.  -v kind=simplex|cross; -v gram=FILE gets the matrix of cosines
# u_i.v_j.
#
# Prints distance, full loss and mean loss over all pairs, at temperature 1.
# The distance is the Frobenius norm between the matrix of cosines and the ideal
# one, after the entries of each row were matched: each ideal entry, in order, with
# the nearest one that remains.

function square(x) {
    return x * x
}

# entry (i,j) of the ideal matrix
function ideal(i, j) {
    if (i == j)
        return 1
    if (kind == "simplex")
        return -1 / (n - 1)
    return j == (i + n / 2 - 1) % n + 1 ? -1 : 0
}

# the squared distance of row i
function row_distance(i,    j, k, best, taken, sum) {
    for (j = 1; j <= n; j++) {
        best = 0
        for (k = 1; k <= n; k++)
            if (!(k in taken) && (!best || square(g[i, k] - ideal(i, j)) < \
                                  square(g[i, best] - ideal(i, j))))
                best = k
        taken[best] = 1
        sum += square(g[i, best] - ideal(i, j))
    }
    return sum
}

# the loss of a batch of all
function full_loss(    i, j, rows, columns, sum) {
    for (i = 1; i <= n; i++) {
        rows = columns = 0
        for (j = 1; j <= n; j++) {
            rows += exp(g[i, j] - g[i, i])
            columns += exp(g[j, i] - g[i, i])
        }
        sum += log(rows) + log(columns)
    }
    return sum / n
}

# the mean loss over the batches of two
function pair_loss(    i, j, sum) {
    for (i = 1; i <= n; i++)
        for (j = 1; j <= n; j++)
            if (i != j)
                sum += log(1 + exp(g[i, j] - g[i, i])) + \
                    log(1 + exp(g[j, i] - g[i, i]))
    return sum / (n * (n - 1))
}

{
    length2 = 0
    for (k = 1; k <= NF; k++)
        length2 += $k * $k
    for (k = 1; k <= NF; k++)
        x[NR, k] = $k / sqrt(length2)
    d = NF
}

END {
    n = NR / 2
    for (i = 1; i <= n; i++)
        for (j = 1; j <= n; j++) {
            g[i, j] = 0
            for (k = 1; k <= d; k++)
                g[i, j] += x[i, k] * x[n + j, k]
        }
    for (i = 1; i <= n; i++) {
        sum += row_distance(i)
        line = ""
        for (j = 1; j <= n; j++)
            line = line sprintf(" %.6f", g[i, j])
        if (gram)
            print line >gram
    }
    printf "%.6f\t%.9f\t%.9f\n", sqrt(sum), full_loss(), pair_loss()
}
