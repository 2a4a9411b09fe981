#include <string.h>

#include "t.h"
#include "util/batch.h"

/* Image and captions become fixed views; undo reverts that. */
int
main(void)
{
    const int64_t ids[] = {7, 4}, texts[] = {9, 0, 4, 2, 9, 1};
    const int32_t captions[] = {2, 0};
    const float z[6] = {0};
    const struct batch original = {
        .b = 2,
        .v = 1,
        .ids = ids,
        .most_captions = 3,
        .captions = captions,
        .extra = {.n_texts = 3, .texts = texts, .most = 5}};
    struct batch batch = original;
    int64_t memory[10];

    T(batch_captions_size(&batch) == 10, "the size of its memory");
    batch_captions(&batch, memory);
    T(batch.v == 2 && batch.fixed == 4, "two of 1 + K views");
    T(!memcmp(batch.view_of, (int64_t[]){0, 0, 3, 1}, 4 * sizeof *memory),
      "the image, and one of the captions");
    T(batch.extra.n == 3 && batch.extra.most == 5 &&
          !memcmp(batch.extra.ids, (int64_t[]){9, 4, 9}, 3 * sizeof *memory) &&
          !memcmp(batch.extra.view, (int64_t[]){1, 3, 2}, 3 * sizeof *memory),
      "further captions are further samples");
    batch.extra.z = z;
    batch_captions_undo(&batch);
    T(batch.v == 2 && !batch.fixed && !batch.view_of && !batch.extra.n &&
          !batch.extra.ids && !batch.extra.view && !batch.extra.z,
      "undo removes them");
    T(batch.captions == captions && batch.extra.texts == texts &&
          batch.extra.n_texts == 3 && batch.extra.most == 5,
      "undo leaves the sources of captions");
    return t_done();
}
