#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "util/mem.h"
#include "wire/batch.h"
#include "wire/events.h"
#include "wire/negatives.h"
#include "wire/pack.h"
#include "wire/show.h"

/* The line that msg is shown as, for the caller to free. */
static char *
line(struct wire_msg *msg, int full, const struct wire_token_text *words)
{
    json_t *object = wire_show(msg, full, words);
    char *text = json_line(object);

    json_decref(object);
    wire_msg_free(msg);
    return text;
}

static void
shows(struct wire_msg *msg, int full, const char *part, const char *what)
{
    char *text = line(msg, full, NULL);

    T(strstr(text, part) && strchr(text, '\n') == text + strlen(text) - 1,
      "%s: %.60s", what, text);
    free(text);
}

static struct wire_msg *
numbers(void)
{
    static const uint16_t bf[] = {0x3f80, 0xc000};
    static const uint8_t u1[] = {0, 255};
    static const float f4[] = {0.5f};
    static const int64_t i8[] = {-7};
    static const int32_t i4[] = {-8};
    static const double f8[] = {0.25};
    struct wire_tensor tensors[] = {
        {"a", DTYPE_BF, 1, {2}, 2, bf}, {"b", DTYPE_U1, 1, {2}, 2, u1},
        {"c", DTYPE_F4, 0, {0}, 1, f4}, {"d", DTYPE_I8, 1, {1}, 1, i8},
        {"e", DTYPE_I4, 1, {1}, 1, i4}, {"f", DTYPE_F8, 1, {1}, 1, f8},
    };
    struct wire_writer w;

    wire_write_start(&w, WIRE_HEARTBEAT);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        wire_write_tensor(&w, tensors[i].name, tensors[i].dtype,
                          tensors[i].data, tensors[i].rank, tensors[i].shape);
    return wire_write_end(&w);
}

static struct wire_msg *
texts(void)
{
    static const int64_t ids[] = {3, 4};
    static const uint8_t views[2] = {0};
    static const int32_t tokens[] = {7, 8, 0, 0, 7, 9, 8, 1};
    static const int32_t lengths[] = {2, 3}, captions[] = {0, 1};
    const struct wire_batch batch = {.batch.steps = 1,
                                     .batch.epochs = 1,
                                     .batch.b = 2,
                                     .batch.v = 1,
                                     .height = 1,
                                     .width = 1,
                                     .channels = 1,
                                     .n_tokens = 4,
                                     .batch.ids = ids,
                                     .batch.pixels = views,
                                     .batch.most_captions = 2,
                                     .vocabulary = 10,
                                     .tokens = tokens,
                                     .lengths = lengths,
                                     .batch.captions = captions};

    return wire_batch_put(&batch);
}

/* Tokens below 9 as letters. */
static char *
letters(void *first, size_t n, const int32_t *token)
{
    char *word = mem_array(n + 1, 1);

    for (size_t i = 0; i < n; i++) {
        word[i] = (char)(*(const char *)first + token[i]);
        if (token[i] > 8) {
            free(word);
            return NULL;
        }
    }
    return word;
}

static void
text_shows(int full, const char *part)
{
    char first = 'a', *shown;
    const struct wire_token_text words = {letters, &first};

    shown = line(texts(), full, &words);
    T(strstr(shown, part) && strstr(shown, "\"text\":[\"hi\",null]"),
      "the text of tokens, and null where they have none: %s", shown);
    T(!strstr(strstr(shown, "\"text\"") + 1, "\"text\""),
      "nothing else has a text");
    free(shown);
}

int
main(void)
{
    static struct wire_metrics metrics = {
        .stage = "tr\xff", .n = 1, .values = {{"loss", 4.5, 0}}};
    struct wire_writer w;

    shows(wire_metrics_put(&metrics), 0, "\"values\":{\"loss\":4.5}",
          "a map inside");
    shows(wire_metrics_put(&metrics), 0, "(not UTF-8)", "no text");
    shows(texts(), 1, "\"data\":[[7,8],[7,9,8]]", "texts up to their end");
    shows(texts(), 0, "\"name\":\"tokens\",\"dtype\":\"i4\",\"shape\":[2,4],",
          "their digest");
    text_shows(1, "\"data\":[[7,8],[7,9,8]]");
    text_shows(0, "\"digest\":");
    shows(numbers(), 0,
          "{\"name\":\"b\",\"dtype\":\"u1\",\"shape\":[2],\"digest\":",
          "digests");
    shows(numbers(), 1, "\"data\":[1.0,-2.0]", "bfloat16");
    shows(numbers(), 1, "\"data\":[0,255]", "u1");
    shows(numbers(), 1, "\"shape\":[],\"data\":[0.5]", "f4, a scalar");
    shows(numbers(), 1, "\"data\":[-7]", "i8");
    shows(numbers(), 1, "\"data\":[-8]", "i4");
    shows(numbers(), 1, "\"data\":[0.25]", "f8");

    wire_write_start(&w, WIRE_HEARTBEAT);
    wire_write_key(&w, "odd");
    msgpack_pack_array(&w.packer, 4);
    msgpack_pack_nil(&w.packer);
    msgpack_pack_double(&w.packer, NAN);
    msgpack_pack_uint64(&w.packer, UINT64_MAX);
    msgpack_pack_true(&w.packer);
    shows(wire_write_end(&w), 0, "[null,null,1.8446744073709552e19,true]",
          "all types of a header");
    return t_done();
}
