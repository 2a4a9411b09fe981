#ifndef FOIL_VIEW_ASK_H
#define FOIL_VIEW_ASK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What strangers ask for, read out of their texts. */

enum { PICTURE_LIST = 64 };

/* A view by its name. */
struct picture_name {
    int64_t id, epoch, view;
};

/* Reads a whole number of at most 15 digits; -1 where there is none. */
static inline int64_t
ask_digits(const char *text, const char **end)
{
    const size_t n = text ? strspn(text, "0123456789") : 0;

    *end = text + n;
    return n && n < 16 ? strtoll(text, NULL, 10) : -1;
}

/* ID.EPOCH.VIEW at *text, which goes behind it; -1 where it is not so. */
static inline int
ask_name(const char **text, struct picture_name *name)
{
    name->id = ask_digits(*text, text);
    if (name->id < 0 || *(*text)++ != '.')
        return -1;
    name->epoch = ask_digits(*text, text);
    if (name->epoch < 0 || *(*text)++ != '.')
        return -1;
    name->view = ask_digits(*text, text);
    return name->view < 0 ? -1 : 0;
}

/* Names with commas between: returns how many, 0 where they are not so. */
static inline size_t
ask_names(const char *text, struct picture_name name[PICTURE_LIST])
{
    for (size_t n = 0; n < PICTURE_LIST; n++) {
        if (ask_name(&text, &name[n]))
            return 0;
        if (!*text)
            return n + 1;
        if (*text++ != ',')
            return 0;
    }
    return 0;
}

/* The host that is asked is one of ours, without its port. */
static inline int
ask_host(const char *host, char *const *ours, size_t n_ours)
{
    const char *port = host ? strrchr(host, ':') : NULL;
    const size_t n = !host ? 0
                     : port && port[strspn(port, ":0123456789")] == 0
                         ? (size_t)(port - host)
                         : strlen(host);

    for (size_t i = 0; i < n_ours && n; i++)
        if (ours[i] && strlen(ours[i]) == n && !strncmp(ours[i], host, n))
            return 1;
    return 0;
}

/* Compares all of both, however soon they differ. */
static inline int
ask_token(const char *want, const char *got)
{
    const size_t n = strlen(want);
    unsigned differ = got && strlen(got) == n ? 0 : 1;

    for (size_t i = 0; i < n && !differ; i++)
        differ |= (unsigned char)want[i] ^ (unsigned char)got[i];
    return !differ;
}

#endif
