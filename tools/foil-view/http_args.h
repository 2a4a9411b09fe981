#pragma once

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Reads arguments of HTTP requests.  They are untrusted. */

enum { PICTURE_LIST = 64 };

/* The name of a view; view -1: the image without augmentation. */
struct picture_name {
    int64_t id, epoch, view;
};

/* Reads a whole number of at most 15 digits; -1 if there is none. */
static inline int64_t
http_args_digits(const char *text, const char **end)
{
    const size_t n = text ? strspn(text, "0123456789") : 0;

    *end = text + n;
    return n && n < 16 ? strtoll(text, NULL, 10) : -1;
}

/* Reads ID.EPOCH.VIEW, or ID, and moves *text to its end.  0, or -1 for other
 * text. */
static inline int
http_args_name(const char **text, struct picture_name *name)
{
    name->id = http_args_digits(*text, text);
    name->epoch = 0;
    name->view = -1;
    if (name->id < 0 || **text != '.')
        return name->id < 0 ? -1 : 0;
    ++*text;
    name->epoch = http_args_digits(*text, text);
    if (name->epoch < 0 || *(*text)++ != '.')
        return -1;
    name->view = http_args_digits(*text, text);
    return name->view < 0 ? -1 : 0;
}

/* Reads names with commas between them.  Returns their number, 0 for other text
 * or more than PICTURE_LIST. */
static inline size_t
http_args_names(const char *text, struct picture_name name[PICTURE_LIST])
{
    for (size_t n = 0; n < PICTURE_LIST; n++) {
        if (http_args_name(&text, &name[n]))
            return 0;
        if (!*text)
            return n + 1;
        if (*text++ != ',')
            return 0;
    }
    return 0;
}

/* Returns 1 if a Host, without its port, is a numeric address or one of our
 * names. */
static inline int
http_args_host(const char *host, const char *const *names, size_t n_names)
{
    const char *colon = strrchr(host, ':');
    const size_t n = colon && !colon[1 + strspn(colon + 1, "0123456789")]
                         ? (size_t)(colon - host)
                         : strlen(host);
    char name[256];
    struct in6_addr address;

    if (n >= sizeof name)
        return 0;
    memcpy(name, host, n);
    name[n] = '\0';
    if (inet_pton(AF_INET, name, &address) == 1)
        return 1;
    for (size_t i = 0; i < n_names; i++)
        if (names[i] && !strcasecmp(names[i], name))
            return 1;
    if (*name != '[' || name[n - 1] != ']')
        return 0;
    name[n - 1] = '\0';
    return inet_pton(AF_INET6, name + 1, &address) == 1;
}

/* Compares in a time that depends on the length of `got` alone. */
static inline int
http_args_token(const char *want, const char *got, size_t n_got)
{
    const size_t n = strlen(want);
    size_t differ = n ^ n_got;

    for (size_t i = 0; i < n_got; i++)
        differ |= (unsigned char)(want[i % (n + !n)] ^ got[i]);
    return !differ;
}
