#include <string.h>

#include "list.h"
#include "pipeline.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

const char *const pipeline_stages[N_STAGES] = {"embed", "select", "train",
                                               "negatives", "augment"};

const json_t *
options_of_stage(int stage)
{
    static json_t *options[N_STAGES];
    char *tool = mem_keep_format("foil-%s", pipeline_stages[stage]);
    struct word_list words = {0};

    word_list_put(&words, tool, "--list", "options");
    if (!options[stage])
        options[stage] = file_is_command(tool)
                             ? json_loads(step_capture(words.word), 0, NULL)
                             : json_array();
    if (!json_is_array(options[stage]))
        die("'%s --list options' prints no list in JSON", tool);
    return options[stage];
}

static const char *
text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

const json_t *
option_of_stage(int stage, const char *name)
{
    const json_t *options = options_of_stage(stage), *row;
    size_t i;

    json_array_foreach(options, i, row)
    {
        const char *was = text_of(row, "was");
        const char *is = was ? was : text_of(row, "name");
        const int flag = !json_object_get(row, "argument");

        if (is && (!strcmp(is, name) ||
                   (flag && !strncmp(name, "no-", 3) && !strcmp(is, name + 3))))
            return row;
    }
    return NULL;
}

/* Whether a list has the parameter that `word` begins with. */
static int
has_parameter(const char *list, const char *word)
{
    const int no = !strncmp(word, "no-", 3) ? 3 : 0;
    const size_t n = strcspn(word + no, "=,");

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        at += !strncmp(at, "no-", 3) ? 3 : 0;
        if (strcspn(at, "=,") == n && !memcmp(at, word + no, n))
            return 1;
    }
    return 0;
}

int
is_parameter(int stage, const char *option, const char *word)
{
    const json_t *options = options_of_stage(stage), *row;
    size_t i;

    json_array_foreach(options, i, row)
    {
        const char *of = text_of(row, "of");

        if (of && opt_index(of, option) >= 0 &&
            (!word || has_parameter(text_of(row, "name"), word)))
            return 1;
    }
    return 0;
}

const char *
merge_parameters(const char *was, const char *is)
{
    char *old = mem_keep_format("%s", was), *now = mem_keep_format("%s", is),
         *rest;
    char *olds = opt_parameters_of(old), *news = opt_parameters_of(now);
    const char *all;

    if (*old && *now && strcmp(old, now))
        return is;
    all = mem_keep_format("%s", *now ? now : old);
    for (char *word = olds ? strtok_r(olds, ",", &rest) : NULL; word;
         word = strtok_r(NULL, ",", &rest))
        if (!has_parameter(news, word))
            all = mem_keep_format("%s,%s", all, word);
    return news ? mem_keep_format("%s,%s", all, news) : all;
}

int
same_method(const char *one, const char *other)
{
    const size_t n = strcspn(one, ",");

    return strcspn(other, ",") == n && !memcmp(one, other, n);
}

const char *
take_item(struct word_list *list, const char *name)
{
    const size_t at = item_find(list, name);
    const char *value = at + 1 < list->n ? list->word[at + 1] : NULL;
    struct word_list rest = {0};

    for (size_t i = 0; value && i < list->n; i++)
        if (i != at && i != at + 1)
            word_list_add(&rest, list->word[i]);
    if (value)
        *list = rest;
    return value;
}

/* Adds an item, or merges its parameters into an item of the same name. */
static void
put_item(int stage, struct word_list *list, char *const *item, size_t n)
{
    const size_t at = item_find(list, *item);

    if (at < list->n && n == 2 && !strcmp(list->word[at], *item) &&
        at + 1 < list->n && is_parameter(stage, *item + 2, NULL)) {
        list->word[at + 1] = mem_keep_format(
            "%s", merge_parameters(list->word[at + 1], item[1]));
        return;
    }
    for (size_t i = 0; i < n; i++)
        word_list_add(list, item[i]);
}

void
merge_items(int stage, struct word_list *list, const struct word_list *own,
            const struct word_list *theirs)
{
    struct word_list all = {0};

    for (size_t i = 0, end; i < theirs->n; i = end) {
        const size_t at = item_find(own, theirs->word[i]);

        end = item_end(theirs, i);
        if (at < own->n && end == i + 2 && at + 1 < own->n &&
            is_parameter(stage, theirs->word[i] + 2, NULL)) {
            char *both[] = {
                theirs->word[i],
                mem_keep_format("%s", merge_parameters(own->word[at + 1],
                                                       theirs->word[i + 1]))};

            put_item(stage, &all, both, 2);
        } else {
            put_item(stage, &all, theirs->word + i, end - i);
        }
    }
    word_list_merge(list, own, &all);
}

const char *
spelled_in(int stage, const char *name)
{
    const json_t *row = option_of_stage(stage, name);
    const char *of = text_of(row, "of");

    return of ? mem_keep_format("%s ,%s=%s", of, name, text_of(row, "argument"))
              : name;
}

/* Adds the new spelling of an old item: 1, or 0 if it is not old. */
static int
put_new_spelling(int stage, const char *name, const char *value,
                 struct word_list *now)
{
    const json_t *row = option_of_stage(stage, name);
    const char *of = text_of(row, "of");
    const char *tool = mem_keep_format("foil-%s", pipeline_stages[stage]);
    const struct opt_old *old = opt_old_find(tool, name, value ? value : "");
    struct err err;

    if (!old)
        old = opt_old_find(tool, name, NULL);
    if (old) {
        word_list_split(now, old->now, &err);
        if (old->is)
            now->word[now->n - 1] = mem_keep_format(
                "%s%s", now->word[now->n - 1], value + strlen(old->is));
        else if (value)
            word_list_add(now, value);
    } else if (of) {
        word_list_put(now, mem_keep_format("--%.*s", (int)strcspn(of, "|"), of),
                      mem_keep_format(",%s%s%s%s",
                                      strncmp(name, "no-", 3) ? "" : "no-",
                                      text_of(row, "name"), value ? "=" : "",
                                      value ? value : ""));
    }
    return now->n > 0;
}

const char *
update_objective(const char *value, int says)
{
    struct word_list words = {0};

    if (!opt_old_find("foil-train", "objective", value))
        return value;
    word_list_put(&words, "--objective", value);
    update_spelling(TRAIN, &words, says);
    return words.word[1];
}

void
update_spelling(int stage, struct word_list *list, int says)
{
    struct word_list all = {0};

    for (size_t i = 0, end; i < list->n; i = end) {
        char *word = list->word[i], *equals = strchr(word, '=');
        const int n = (int)strcspn(word, "=");
        struct word_list now = {0};

        end = item_end(list, i);
        if (strncmp(word, "--", 2) || end > i + 2 ||
            !put_new_spelling(stage, mem_keep_format("%.*s", n - 2, word + 2),
                              equals        ? equals + 1
                              : end > i + 1 ? list->word[i + 1]
                                            : NULL,
                              &now)) {
            put_item(stage, &all, list->word + i, end - i);
            continue;
        }
        if (says)
            log_message("%s is now %s" OPT_DROPPED,
                        word_list_text(list->word + i, end - i),
                        word_list_text(now.word, now.n));
        for (size_t k = 0, next; k < now.n; k = next) {
            next = item_end(&now, k);
            put_item(stage, &all, now.word + k, next - k);
        }
    }
    *list = all;
}
