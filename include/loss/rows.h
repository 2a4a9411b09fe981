#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Functions for objectives on a similarity matrix.  Rows as in
 * loss/objective.h: n = v b anchors, view-major, and `rows` columns, first the
 * n anchors.
 *
 * The positives of a row are the other rows of its image in the first `targets`
 * views: all v - 1 others with targets = v; with fewer, the further views learn
 * from these, and these from each other (SwAV, arXiv:2006.09882, section 3.2).
 */
struct loss_views {
    size_t b;       /* images, >= 1 */
    size_t v;       /* views of each, 2 .. LOSS_VIEWS_MAX */
    size_t targets; /* 2 .. v */
};

enum { LOSS_VIEWS_MAX = 64 };

/* From so many elements on rows are spread over threads; for fewer it takes
 * longer to wake the threads. */
enum { LOSS_FOR_THREADS = 1 << 16 };

/* The columns of the batch that a row is compared with. */
enum loss_mask {
    LOSS_BATCH,     /* all but itself: v b - 1 */
    LOSS_NEGATIVES, /* all of other images: v (b - 1) */

    /* of two views */
    LOSS_CROSS,          /* all of the other view, with the partner: b */
    LOSS_CROSS_NEGATIVES /* all of the other view but the partner: b - 1 */
};

/* loss_mask_count() returns the number of columns of a mask. */
size_t loss_mask_count(const struct loss_views *views, enum loss_mask mask);

/* loss_partner() returns, of two views, the row of the other view of the same
 * image. */
size_t loss_partner(size_t b, size_t row);

/* loss_positives_in() returns 1 if view w has a positive of row r;
 * loss_positives_count() the number of its positives. */
int loss_positives_in(const struct loss_views *views, size_t r, size_t w);
size_t loss_positives_count(const struct loss_views *views, size_t r);

/* The softmax of one row's scores. */
struct loss_row {
    double log_z; /* log sum_c exp(beta s_c) */
    double mean;  /* sum_c p_c s_c */
    double score; /* mean s of the positives */
    size_t view;  /* of the row */
    double first; /* temperature of the image's row in view 0 */
};

/* An objective's part of a row, from its softmax p. */
struct loss_term {
    double scale, pull; /* W_c = scale p_c - pull [c in P] / |P| */
    double second;      /* + second p'_c, of an objective's second softmax */
    double value;       /* its part of L */
    double weight, kl, slope, log_u; /* of the objective */
    double infonce, score;           /* of the report */
};

/* loss_log_add() returns log(exp(a) + exp(b)). */
double loss_log_add(double a, double b);

/*
 * The share of false negatives, those of the anchor's group, in the weight of
 * all negatives: with W = dL/dS of a batch (loss/objective.h), over its anchors
 * r and negatives c, the rows of other samples,
 *
 *     same_group_weight / all
 *
 *     same_group_weight = sum of max(W_rc, 0) over c of the group of r
 *     all               = sum of max(W_rc, 0) over all c
 *
 * and for comparison same_group / negatives, the share with uniform weights,
 * where same_group counts the negatives of the anchor's group.
 */
struct loss_share {
    double same_group_weight, all;
    size_t same_group, negatives;
};

struct loss_batch;

/*
 * loss_share_add() adds anchor r of a batch with samples and groups to *share,
 * which starts as zeros.
 *   from, to  the columns of W, without constants
 *   w         [to - from]  its row of W, divided by scale
 */
void loss_share_add(struct loss_share *share, const struct loss_batch *batch,
                    size_t r, size_t from, size_t to, double scale,
                    const float *w);
