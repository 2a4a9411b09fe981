#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "util/mem.h"

#include "block.h"
#include "links.h"
#include "region.h"
#include "whole.h"

/* Samples in a region, and its least number of batches. */
enum { REGION = 1280, BATCHES = 4 };

size_t
select_whole_count(const struct select_layout *layout)
{
    size_t count = REGION / layout->batch;

    return select_block_cut(layout, count < BATCHES ? BATCHES : count);
}

static int
is_known(const struct select_features *features, int64_t id)
{
    return !features->known || features->known[id];
}

void
select_whole_gather(const struct select_task *task, int64_t *ids)
{
    const struct select_layout *layout = &task->layout;
    size_t total = select_layout_total(layout), n = 0, next = 0;
    size_t leaf = select_whole_count(layout) * layout->batch;
    int64_t *point;
    uint32_t *link;

    if (layout->steps <= select_whole_count(layout))
        return; // a single block
    if (total > layout->size)
        total = select_layout_start(layout, layout->steps - 1);
    point = mem_array(total, sizeof *point);
    for (size_t i = 0; i < total; i++)
        if (is_known(task->features, ids[i]))
            point[n++] = ids[i];
    link = mem_array(n * SELECT_LINKS, sizeof *link);
    select_links_find(task->features->d, task->features->u, n, leaf, task->seed,
                      task->epoch, point, link);
    select_links_sort(n, leaf, link, point);
    free(link);
    for (size_t i = 0; i < total; i++)
        if (is_known(task->features, ids[i]))
            ids[i] = point[next++];
    free(point);
}

void
select_whole_regions(const struct select_task *task, unsigned round,
                     size_t count, const int64_t *ids, int64_t *step)
{
    const struct select_layout *layout = &task->layout;
    size_t d = task->features->d;
    float *mean = mem_array(layout->steps * d, sizeof *mean);

#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < layout->steps; c++) {
        const int64_t *id = ids + select_layout_start(layout, c);
        size_t b = select_layout_count(layout, c);

        step[c] = (int64_t)c;
        for (size_t i = 0; i < b; i++)
            if (is_known(task->features, id[i]))
                num_axpy(d, 1 / (float)b, task->features->u + (size_t)id[i] * d,
                         mean + c * d);
    }
    select_region_sort(d, mean, layout->steps, count, task->seed, task->epoch,
                       round, step);
    free(mean);
}
