#ifndef DATA_CAPTION_JSON_H
#define DATA_CAPTION_JSON_H

#include "data/set.h"
#include "util/err.h"

/*
 * data_caption_json() turns captions in JSON, as they come with data sets, into
 * a table (lib/data/table.h): lines of a name, a tab and a caption, the first
 * one saying so.  Two forms are known:
 *
 *     {"images": [{"filename": "1.jpg", "sentences": [{"raw": "A dog."}, ..],
 *                  "split": "train"}, ..]}
 *         as of Karpathy: dataset_flickr30k.json, dataset_coco.json
 *     {"images": [{"id": 1, "file_name": "1.jpg"}, ..],
 *      "annotations": [{"image_id": 1, "caption": "A dog."}, ..]}
 *         as of COCO: captions_train2017.json
 *
 *   path   for sentences
 *   table  out: the text, zero-ended; to be given to data_bytes_release()
 * -1 with a sentence that names the field: no JSON, neither form, an image
 * without a name, an annotation of an image that is not listed.
 */
int data_caption_json(const char *path, const char *text, size_t len,
                      struct data_bytes *table, struct err *err);

#endif
