#include <stdlib.h>
#include <string.h>

#include "eval/column.h"
#include "t.h"

static void
quantiles_are_between_neighbours(void)
{
    double x[] = {7, 1, 3, 10};

    eval_sort(4, x);
    T(x[0] == 1 && x[1] == 3 && x[2] == 7 && x[3] == 10, "sorted");
    T(eval_quantile(4, x, 0) == 1 && eval_quantile(4, x, 1) == 10, "ends");
    T_NEAR(eval_quantile(4, x, .5), 5, 1e-15, "median");
    T_NEAR(eval_quantile(4, x, .25), 2.5, 1e-15, "a quarter: 0.75 steps");
    T(eval_quantile(1, x, .3) == 1, "of one number");
}

static void
histograms_count_all(void)
{
    static const double x[] = {-5, 0, .24, .25, .5, .99, 1, 7};
    static const size_t want[] = {3, 1, 1, 3};
    size_t count[4];

    eval_histogram(8, x, 0, 1, 4, count);
    T(!memcmp(count, want, sizeof want),
      "four bins, numbers outside at the ends");
}

static void
ranks_correlate(void)
{
    static const double x[] = {1, 2, 3, 4, 5}, y[] = {1, 8, 27, 64, 1000};
    static const double z[] = {5, 6, 7, 8, 7}, down[] = {9, 8, 3, 2, -1};
    static const double same[] = {4, 4, 4, 4, 4};
    static const double half[] = {1, 1, 2, 2, 2};

    T_NEAR(eval_spearman(5, x, y), 1, 1e-15, "rising together: 1");
    T_NEAR(eval_spearman(5, x, down), -1, 1e-15, "against: -1");
    // the textbook example: ranks 1, 2, 3.5, 5, 3.5
    T_NEAR(eval_spearman(5, x, z), 0.820782681668123, 1e-12, "with a tie");
    T_NEAR(eval_spearman(5, half, x), 0.866025403784439, 1e-12,
           "two groups: sqrt(3)/2");
    T(eval_spearman(5, x, same) == 0, "a constant: 0");
}

static void
order_keeps_equal_ones(void)
{
    static const double x[] = {3, 1, 4, 1};
    static const size_t want[] = {1, 3, 0, 2};
    size_t *order = eval_order(4, x, NULL);

    T(!memcmp(order, want, sizeof want), "a stable order");
    free(order);
}

int
main(void)
{
    quantiles_are_between_neighbours();
    histograms_count_all();
    ranks_correlate();
    order_keeps_equal_ones();
    return t_done();
}
