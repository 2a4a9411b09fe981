#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * Images in the binary formats of older data sets, one after another; each file
 * may be gzipped, except the labels of npy.
 *
 *   idx       MNIST's: a file of n images [rows,columns] or
 *             [rows,columns,3], and one of n labels
 *   cifar10   records of a label and 3 x 32 x 32 bytes; several files are one
 *   cifar100  the same with two labels, coarse before fine
 *   stl10     3 x 96 x 96 bytes a record, each colour by columns; a second
 *             file holds the labels, 1 .. 10
 *   npy       an array of NumPy (data/npy.h), u1 [n,rows,columns] or
 *             [n,rows,columns,3], as CIFAR-10-C and CIFAR-100-C have one for
 *             each corruption; a second, [n], holds the labels, 0 .. 255
 */
enum data_form { DATA_IDX, DATA_CIFAR10, DATA_CIFAR100, DATA_STL10, DATA_NPY };

/* data_form_find() finds a form by its name: 0, or -1 with the list of names.
 */
int data_form_find(const char *name, enum data_form *form, struct err *err);

/* What to read.  For idx, stl10 and npy, file[0] has the images and file[1] the
 * labels; without file[1], all labels are -1. */
struct data_import_settings {
    enum data_form form;
    size_t files;
    char *const *file;
    int coarse;          /* cifar100: the 20 coarse labels */
    const char *classes; /* a file with a class name in each line, or NULL */
};

/* data_import_open() opens the files and checks their headers; NULL on error.
 * The file names must stay valid until data_import_close().  Without `classes`,
 * cifar10 and stl10 have the names of their authors, the others numbers. */
struct data_import;
struct data_import *data_import_open(const struct data_import_settings *how,
                                     struct err *err);
void data_import_close(struct data_import *import);

/* data_import_size() returns the number of images if the form has it, or 0. */
size_t data_import_size(const struct data_import *import);

struct data_picture {
    const uint8_t *pixel; /* [height,width,channels], until the next call */
    size_t width, height, channels;
    const char *class; /* name of the class, until data_import_close(); NULL:
                          none */
};

/* data_import_next() reads an image: 1, 0 at the end, or -1 if a file is cut
 * off, a label is out of range, or images and labels differ in number. */
int data_import_next(struct data_import *import, struct data_picture *picture,
                     struct err *err);
