#ifndef FOIL_EMBED_FOLDER_H
#define FOIL_EMBED_FOLDER_H

/* An encoder as a folder that other programs open. */
struct embed_folder_job {
    const char *checkpoint, *folder;
    const char *licence; /* for the card; NULL: unknown */
    int average;         /* 1: with the mean of weights (nn/average.h) */
};

/*
 * embed_folder_job() makes it, or ends the tool with a sentence:
 *
 *     model.safetensors   the encoder of images, named as timm names it
 *     config.json         timm's, where timm has such an encoder, and "foil"
 *     hubconf.py          opens it in PyTorch
 *     README.md           the model's card
 *     open_clip_config.json, open_clip_model.safetensors, vocabulary.txt
 *                         of an encoder of texts, too, where open_clip has both
 */
void embed_folder_job(const struct embed_folder_job *job);

#endif
